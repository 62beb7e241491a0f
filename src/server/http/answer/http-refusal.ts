import { type ErrorCode, ToolError } from '../../../core/index.ts'
import type { Refusal } from '../../auth/refusal.ts'

/** A request that is turned away with a status and headers of its own. */
export class HttpRefusal extends ToolError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: ErrorCode,
    message: string,
    { hint, headers = {} }: { readonly hint?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(code, message, hint === undefined ? {} : { hint })
    this.status = status
    this.headers = headers
  }

  /** What the authenticator says no with. */
  static from({ status, error, headers }: Refusal): HttpRefusal {
    return new HttpRefusal(status, error.code, error.message, { hint: error.fix.hint, headers })
  }
}
