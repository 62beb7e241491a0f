import type { Command } from 'commander'
import { escapeLine } from '../../lib/index.ts'
import { addConfigOption } from '../input/add-options.ts'
import { serverNamed, withSourceHost } from '../mcp/with-source-host.ts'
import { print, printJson } from '../output/print.ts'

interface PinFlags {
  readonly config?: string
  readonly forget?: boolean
  readonly json?: boolean
}

const EXAMPLES = `
The definitions of a server are pinned when it is first seen. Until you accept here what it changes later, models see its
tools as they were, every call of a changed tool asks and shows the difference, and new tools are hidden. A hub that is
running notices within seconds. Look first: tool-hub mcp test NAME.

Examples:
  tool-hub mcp pin github
  tool-hub mcp pin github --forget`

/** `mcp pin`: accepts the definitions of a server as they are now. */
export function describeMcpPin(command: Command): void {
  addConfigOption(command)
    .summary('Accept what an MCP server changed in its tools, and new ones')
    .description('Accept the definitions of an MCP server as they were last seen.')
    .argument('<name>', 'Its name')
    .option('--forget', 'Forget them: whatever it says next is pinned')
    .addHelpText('after', EXAMPLES)
    .action(pin)
}

async function pin(name: string, flags: PinFlags): Promise<void> {
  const { acceptPins, forgetPins, listPins } = await import('../../sources/mcp/index.ts')
  await withSourceHost(flags, async ({ data }, servers) => {
    // Of a server that was taken out, what was pinned can still be looked after.
    if (listPins(data, name).length === 0) serverNamed(servers, name)
    if (flags.forget) {
      const forgotten = forgetPins(data, name)
      return flags.json ? printJson({ forgotten }) : print(escapeLine(`Forgot ${forgotten} definitions of ${name}.`))
    }
    const accepted = acceptPins(data, name)
    if (flags.json) return printJson({ accepted })
    // The names are the server's own.
    const told =
      accepted.length > 0 ? `Accepted: ${accepted.join(', ')}.` : `Nothing of ${name} had changed or was new.`
    await print(escapeLine(told))
  })
}
