// The judge of command lines as a hub uses it, for one policy, without the hub around it.

/** Where the lines of the attack cases run. */
const PLACE = { cwd: '/ws/repo', roots: ['/ws/repo'] }

/** Answers allow, ask or deny. The parts come from dist or from the sources, whichever is to be tried. */
export async function createShellJudge({ compilePolicy, decide, readCommandLine, loadSecondParser }, { allow, deny }) {
  const secondParser = await loadSecondParser()
  const source = { file: 'attacks' }
  const policy = compilePolicy({
    owner: [
      { rule: { allow: 'exec', on: allow }, source, base: '/' },
      { rule: { deny: 'exec', on: deny }, source, base: '/' },
    ],
  })
  return (command) => {
    const reading = readCommandLine(command, PLACE, secondParser)
    const decision = decide(policy, {
      tool: 'core/exec.run',
      names: ['core/exec.run'],
      groups: ['group:exec'],
      capabilities: ['exec'],
      targets: [{ capability: 'exec', value: command }],
      readings: new Map([[command, reading]]),
      caller: 'model',
      tainted: false,
    })
    const { effect: verdict, reason, rule } = decision
    return { verdict, reason, rule, commands: reading.parts.map(({ words }) => words) }
  }
}
