import { join } from 'node:path'
import { z } from 'zod'
import { defineTool } from '../../packages/core/src/tool.ts'
import { serveMcpStdio } from '../../packages/server/src/mcp/serve.ts'
import { createBareHub } from './create-bare-hub.ts'

/** A process that serves over stdio a tool that prints in every way there is. */
const print = defineTool({
  name: 'print',
  description: 'Prints.',
  input: z.strictObject({}),
  execute: () => {
    console.log('logged')
    console.info('noted')
    console.debug('traced')
    process.stdout.write('written\n')
    return 'printed'
  },
})

const hub = createBareHub({ tools: [print], runs: join(process.cwd(), 'runs'), data: join(process.cwd(), 'data') })
const server = await serveMcpStdio(hub)
await server.closed
await hub.close()
