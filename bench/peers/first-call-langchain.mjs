// The same in LangChain.
import { tool } from '@langchain/core/tools'
import { z } from 'zod'

const add = tool(({ a, b }) => ({ sum: a + b }), {
  name: 'add',
  description: 'Add two whole numbers.',
  schema: z.strictObject({ a: z.int(), b: z.int() }),
})
const { sum } = await add.invoke({ a: 1, b: 2 })
if (sum !== 3) throw new Error('The first call failed.')
