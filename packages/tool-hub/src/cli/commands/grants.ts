import { didYouMean } from '@tool-hub/core'
import type { Grant } from '@tool-hub/runtime/approvals'
import type { Command } from 'commander'
import { UsageError } from '../exit.ts'
import { type HubFlags, withHub } from '../hub/with-hub.ts'
import { addConfigOption, addDefaultList } from '../input/options.ts'
import { table } from '../output/layout.ts'
import { print, printJson, say } from '../output/print.ts'

type Flags = HubFlags & { readonly json?: boolean }

const EXAMPLES = `
Examples:
  tool-hub grants
  tool-hub grants revoke grant-b513ab00c0dc9f03`

/** `grants`: answers that hold for later calls. */
export function describeGrants(command: Command): void {
  command.description('List and revoke grants: answers that are remembered for later calls.')
  addConfigOption(addDefaultList(command, 'List the grants, oldest first')).action(list)
  command.addHelpText('after', EXAMPLES)
  addConfigOption(command.command('revoke'))
    .summary('Revoke a grant')
    .description('Revoke a grant; the next such call needs approval again.')
    .argument('<id>', 'Id of the grant')
    .action(revoke)
}

async function list(flags: Flags): Promise<void> {
  const saved = await withHub(flags, ({ grants }) => grants.list())
  if (flags.json) return printJson(saved)
  if (saved.length === 0) return say('No answer is saved.')
  await print(table(saved.map(row)))
}

async function revoke(id: string, flags: Flags): Promise<void> {
  await withHub(flags, async ({ grants }) => {
    if (await grants.revoke(id)) return
    const known = (await grants.list()).map((grant) => grant.id)
    throw new UsageError(
      `Grant ${JSON.stringify(id)} not found.`,
      didYouMean(id, known) || 'List them with tool-hub grants.',
    )
  })
  await (flags.json ? printJson({ revoked: id }) : print(`Revoked ${id}.`))
}

const WHAT = {
  exact: 'this exact call',
  targets: 'any call on these targets',
  pattern: 'any call that matches',
  values: 'values of arguments',
} as const

function row({ id, effect, tool, covers, targets, pattern, values, until, by }: Grant): string[] {
  const about = pattern?.shown ?? (values ? values.map(({ argument }) => argument) : targets).join(', ')
  return [id, effect, tool, WHAT[covers], until ? `until ${until}` : 'always', `by ${by}`, about]
}
