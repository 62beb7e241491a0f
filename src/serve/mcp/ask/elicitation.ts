import type { ElicitRequestFormParams } from '@modelcontextprotocol/server'
import { z } from 'zod'

/** What a person is shown: a text and the fields to fill in. */
export type Form = Pick<ElicitRequestFormParams, 'message' | 'requestedSchema'>

const ANSWER = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.null()]))
    .nullish(),
})

/** What a client says that the person did. */
export type FormAnswer = z.infer<typeof ANSWER>

/** The answer in what a client sent; undefined when it is none. */
export function parseFormAnswer(value: unknown): FormAnswer | undefined {
  return ANSWER.safeParse(value).data
}
