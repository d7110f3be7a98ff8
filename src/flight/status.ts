// Errors as gRPC statuses. The message begins with the stable code of storage/errors.ts, which also stands in the trailer
// `sluice-code`, since a gRPC client sees one of sixteen status codes only.

import { Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { type ErrorCode, isSluiceError, SluiceError } from '../../storage/errors.ts'

const BY_CODE: Partial<Record<ErrorCode, status>> = {
  CORRUPT_SSTABLE: status.DATA_LOSS,
  CHECKSUM_MISMATCH: status.DATA_LOSS,
}

const BY_HTTP_STATUS: Record<number, status> = {
  400: status.INVALID_ARGUMENT,
  401: status.UNAUTHENTICATED,
  404: status.NOT_FOUND,
  405: status.UNIMPLEMENTED,
  406: status.INVALID_ARGUMENT,
  410: status.NOT_FOUND,
  499: status.CANCELLED,
  501: status.UNIMPLEMENTED,
  502: status.UNAVAILABLE,
  503: status.UNAVAILABLE,
  507: status.RESOURCE_EXHAUSTED,
}

export function sluiceErrorOf(thrown: unknown): SluiceError {
  return isSluiceError(thrown) ? thrown : new SluiceError('INTERNAL', {}, thrown)
}

export function grpcError(error: SluiceError): Partial<ServiceError> & { code: status } {
  const metadata = new Metadata()
  metadata.set('sluice-code', error.code)
  return {
    code: BY_CODE[error.code] ?? BY_HTTP_STATUS[error.status] ?? status.INTERNAL,
    details: `${error.code}: ${error.message}`,
    metadata,
  }
}
