import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { isPlainObject } from '../../../lib/index.ts'

/** Characters of the name of a tool. */
export const MAX_NAME_LENGTH = 256

const PARAMS = z.object({
  name: z.string().min(1).max(MAX_NAME_LENGTH),
  // Not copied: how large and deep arguments may be is the hub's to say.
  arguments: z.custom<Readonly<Record<string, unknown>>>(isPlainObject, 'expected an object').optional(),
  task: z.object({ ttl: z.number().nullish() }).optional(),
  _meta: z.object({ progressToken: z.union([z.string(), z.number()]).optional() }).optional(),
})

/** What a client says when it calls a tool. */
export type CallParams = z.infer<typeof PARAMS>

const PAGE = z.object({ cursor: z.undefined('this list has one page and no cursor').optional() }).optional()
const READ = z.object({ uri: z.string().min(1).max(2_000) })
const TASK = z.object({ taskId: z.string().min(1).max(200) })

/** The parameters of tools/call. */
export const parseCall = (params: unknown): CallParams => parsed('tools/call', PARAMS, params)

/** The parameters of a list, none of which has a second page. */
export const parsePage = (method: string, params: unknown): void => void parsed(method, PAGE, params)

/** The parameters of resources/read. */
export const parseRead = (params: unknown): z.infer<typeof READ> => parsed('resources/read', READ, params)

/** The parameters of what is asked of a task. */
export const parseTask = (method: string, params: unknown): z.infer<typeof TASK> => parsed(method, TASK, params)

function parsed<T>(method: string, schema: z.ZodType<T>, params: unknown): T {
  const result = schema.safeParse(params)
  if (result.success) return result.data
  const why = result.error.issues.map(({ path, message }) => `${path.join('.') || 'params'}: ${message}`).join('; ')
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid params for ${method}: ${why.slice(0, 500)}`)
}
