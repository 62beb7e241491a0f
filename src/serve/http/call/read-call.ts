import type { CallOptions } from '../../../call-options.ts'
import { isPlainObject } from '../../../value/is-plain-object.ts'
import { callRequest, hasKey } from '../../api/calls.ts'
import { HttpRefusal } from '../answer/http-refusal.ts'
import { schemaRefusal } from '../schema-refusal.ts'

/** What a client wants called, and how. */
export interface WantedCall {
  readonly input: unknown
  readonly options: CallOptions
  /** Made again with the same key it gives the same result, so it goes on when the client is gone. */
  readonly survivesClient: boolean
}

const PLAIN: CallOptions = {}
const LONGEST_KEY = 512

/** Reads the body of a call. Most have nothing but `input`, for which the schema need not be asked. */
export function readCall(body: unknown, keyHeader: string | undefined): WantedCall {
  if (keyHeader === undefined && isOnlyInput(body)) return { input: body.input, options: PLAIN, survivesClient: false }
  const parsed = callRequest.safeParse(body)
  if (!parsed.success) throw schemaRefusal('body', parsed.error)
  const { input, ...said } = parsed.data
  const idempotencyKey = readKey(keyHeader, said.idempotencyKey)
  const options = { ...said, idempotencyKey }
  return { input, options, survivesClient: hasKey(options) }
}

function isOnlyInput(body: unknown): body is { readonly input: unknown } {
  if (!isPlainObject(body) || !Object.hasOwn(body, 'input')) return false
  for (const key in body) if (key !== 'input') return false
  return true
}

function readKey(header: string | undefined, inBody: string | undefined): string | undefined {
  if (header === undefined) return inBody
  if (header === '' || header.length > LONGEST_KEY) {
    throw new HttpRefusal(400, 'INPUT_SCHEMA_INVALID', `An Idempotency-Key has 1 to ${LONGEST_KEY} characters.`)
  }
  if (inBody === undefined || inBody === header) return header
  throw new HttpRefusal(
    400,
    'INPUT_SCHEMA_INVALID',
    'The Idempotency-Key header and idempotencyKey of the body differ.',
    {
      hint: 'Send one of them.',
    },
  )
}
