import type { CommandLimits as OwnersLimits } from '../../../options.ts'
import { DEFAULT_LIMITS } from '../jail/default-limits.ts'
import type { CommandLimits } from '../jail/jail.ts'

/** The limits of commands, but for processor time: a program lives long. */
export function programLimits({ memoryBytes, processes, fileBytes, openFiles }: OwnersLimits): CommandLimits {
  return {
    cpuSeconds: Infinity,
    memoryBytes: memoryBytes ?? DEFAULT_LIMITS.memoryBytes,
    processes: processes ?? DEFAULT_LIMITS.processes,
    fileBytes: fileBytes ?? DEFAULT_LIMITS.fileBytes,
    openFiles: openFiles ?? DEFAULT_LIMITS.openFiles,
  }
}
