/** Text for an error's field: what a client sends may be of any length. */
export function shorten(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}...`
}
