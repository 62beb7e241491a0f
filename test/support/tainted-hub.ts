import { createToolHub } from '@tool-hub/library/create-tool-hub'

/** A hub with a command of a tainted run in the background, which says that it runs and waits to be killed. */
const [folder, root, command] = process.argv.slice(2) as [string, string, string]
const hub = createToolHub({
  runs: `${folder}/runs`,
  data: `${folder}/data`,
  policy: [{ allow: 'exec' }],
  approve: () => ({ decision: 'allow', by: 'the test' }),
  sandbox: { root },
})
const result = await hub.call('core/exec.run', { command, background: true }, { untrusted: true })
if (!result.ok) throw new Error(result.error.message)
process.stdout.write('runs\n')
setInterval(() => {}, 1_000)
