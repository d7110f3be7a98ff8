// The client of a Sluice server: `import { createExport } from 'sluice/client'`.

export type { ErrorCode, ErrorFields } from '../../storage/errors.ts'
export { isSluiceError, SluiceError } from '../../storage/errors.ts'
export type { ExportDescription, ExportEndpoint } from '../server/routes/exports.ts'
export type { Connection } from './http.ts'
export type { ByteSink } from './read-split.ts'
export type { ExportPart, ExportRequest, PullProgress, ReadOptions, SplitState } from './remote-export.ts'
export { createExport, findExport, RemoteExport } from './remote-export.ts'
