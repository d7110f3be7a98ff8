// Arrow types in words, as pyarrow prints them, for people who look at a schema before they read the stream.

import type { Field } from '../storage/rows/batch.ts'

export function arrowTypeName(field: Field): string {
  const { layout, children } = field
  switch (layout.kind) {
    case 'float32':
      return 'float'
    case 'float64':
      return 'double'
    case 'date32':
      return 'date32[day]'
    case 'time64ns':
      return 'time64[ns]'
    case 'timestamp_ms':
      return 'timestamp[ms, tz=UTC]'
    case 'uuid':
      return 'extension<arrow.uuid>'
    case 'interval':
      return 'month_day_nano_interval'
    case 'decimal128':
    case 'decimal256':
      return `${layout.kind}(${layout.precision}, ${layout.scale})`
    case 'utf8':
      return 'string'
    case 'list':
      return `list<item: ${arrowTypeName(children[0])}>`
    case 'fixed_list':
      return `fixed_size_list<item: ${arrowTypeName(children[0])}>[${layout.size}]`
    case 'map': {
      const [key, value] = children[0].children
      return `map<${arrowTypeName(key)}, ${arrowTypeName(value)}>`
    }
    case 'struct':
      return `struct<${children.map((child) => `${child.name}: ${arrowTypeName(child)}`).join(', ')}>`
    default:
      return layout.kind
  }
}
