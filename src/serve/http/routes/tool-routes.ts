import { z } from 'zod'
import { toolList, toolQuery } from '../../api/tools.ts'
import { answerJson } from '../answer/answer-json.ts'
import { defineRoute, type Route } from '../route.ts'
import { listForms } from './list-forms.ts'

// `false` as a word is no true.
const query = toolQuery.extend({ hidden: z.stringbool().optional() })
const providerList = z.object({ tools: z.array(z.record(z.string(), z.unknown())) })

/** The tools that the visitor sees. */
export const TOOL_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/tools',
    summary: 'The tools that you see, in the form of the hub or of a provider',
    admits: ['call', 'read'],
    query,
    answers: [{ description: 'The tools', schema: z.union([toolList, providerList]) }],
    handle: async ({ door, visitor, query }) =>
      answerJson({ tools: await listForms(door.service.hub, visitor.hub, query) }),
  }),
]
