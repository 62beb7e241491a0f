import { arch, cpus, platform, release, totalmem } from 'node:os'

/** What the figures were measured on; ratios travel between machines, times do not. */
export function describeMachine() {
  return {
    node: process.version,
    platform: `${platform()} ${arch()} ${release()}`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
  }
}
