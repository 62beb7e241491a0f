import { systemClock } from '../../core/index.ts'
import { escapeText } from '../../lib/index.ts'
import type { ConfigState } from '../../protocol/index.ts'
import { adoptRules, ConfigReload, type RuleHolder, refusedMessage, restartMessage } from '../../server/index.ts'
import { say } from '../output/print.ts'

/**
 * Applies the rules of a config whenever the file is edited, while a hub of this process runs; what is refused, or needs
 * another start, is reported on standard error. Returns how to stop.
 */
export async function followConfig(hub: RuleHolder, file: string): Promise<() => Promise<void>> {
  const reload = new ConfigReload({
    file,
    clock: systemClock,
    apply: (rules) => adoptRules(hub, rules, reload.state.file),
    onChange: report,
  })
  await reload.start()
  return () => reload.close()
}

function report(state: ConfigState): void {
  if (state.problem !== undefined) say(`warning: ${escapeText(refusedMessage(state))}`)
  else if (state.restart.length > 0) say(`warning: ${escapeText(restartMessage(state))}`)
}
