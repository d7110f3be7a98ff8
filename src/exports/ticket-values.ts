// What a ticket is read with: what its export was made of, what it fixes itself, and what the reader says. The same over HTTP and Flight.

import { EXPORT_PARAMETERS, type ParameterValues, readParameters, TICKET_OPTIONS } from '../parameters.ts'
import type { Ticket } from './tickets.ts'

/**
 * @param made the export's parameters as they were given
 * @param asked the reader's own, which it may say (TICKET_PARAMETERS)
 * @returns `fixed`: the ticket's own options; of its format, compression and null marker the caller knows whether they apply
 */
export function ticketValues(
  { from, to, options }: Ticket,
  made: Ticket['options'],
  asked: ParameterValues,
): { fixed: ParameterValues; values: ParameterValues } {
  const fixed = readParameters(TICKET_OPTIONS, options)
  const whole = readParameters(EXPORT_PARAMETERS, made)
  const values = {
    ...whole,
    ...asked,
    batch_rows: fixed.batch_rows,
    batch_bytes: fixed.batch_bytes,
    decimal: fixed.decimal,
    duration: fixed.duration,
    from: from ?? whole.from,
    to: to ?? whole.to,
  }
  return { fixed, values }
}
