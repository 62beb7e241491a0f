import type { Command } from 'commander'
import { describePolicyCheck } from './policy-check.ts'
import { describePolicyExplain } from './policy-explain.ts'
import { describePolicyReplay } from './policy-replay.ts'
import { describePolicyShow } from './policy-show.ts'
import { describePolicyTest } from './policy-test.ts'

/** `policy`: everything about what tools may do. */
export function describePolicy(command: Command): void {
  command.description('Explain, check, test and show what tools may do.')
  describePolicyExplain(command.command('explain').summary('Say what policy says to a call, and what would change it'))
  describePolicyShow(command.command('show').summary('Show the rules that hold, and where they come from'))
  describePolicyCheck(command.command('check').summary('Find mistakes in config and rules'))
  describePolicyTest(command.command('test').summary('Compare decisions with what you expect'))
  describePolicyReplay(command.command('replay').summary('Decide the calls of a run again, by other rules'))
}
