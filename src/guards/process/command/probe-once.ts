import type { SandboxLevel } from '../../../contracts/commands.ts'
import { withFreeDescriptors } from '../../../disk/lazy-module.ts'
import type { SandboxReport } from '../jail/jail.ts'
import { probeSandbox } from '../jail/probe-sandbox.ts'

const reports = new Map<SandboxLevel | undefined, Promise<SandboxReport>>()

/** What the machine can do, tried once for the process: it is a fact of the machine, and guards come and go with runs. */
export async function probeOnce(level: SandboxLevel | undefined): Promise<SandboxReport> {
  const report =
    reports.get(level) ?? withFreeDescriptors('The sandbox cannot be tried', () => probeSandbox({ force: level }))
  reports.set(level, report)
  try {
    return await report
  } catch (error) {
    reports.delete(level)
    throw error
  }
}
