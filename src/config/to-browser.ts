import type { z } from 'zod'
import type { BrowserOptions } from '../contracts/browser.ts'
import type { browserSchema } from './browser-schema.ts'
import { resolvePath } from './resolve-path.ts'
import { parseDuration, parseSize } from './units.ts'
import { withoutUndefined } from './without-undefined.ts'

/** What a config says about the browser, in the words of `createToolHub`. */
export function toBrowser(written: z.output<typeof browserSchema>, base: string): BrowserOptions {
  const { executable, channel, headless, sandbox, idle, timeout, tabs, traffic, download, pageMemory } = written
  return withoutUndefined<BrowserOptions>({
    ...{ channel, headless, sandbox, tabs },
    executable: executable === undefined ? undefined : resolvePath(base, executable),
    idleMs: idle === undefined ? undefined : parseDuration(idle),
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout),
    trafficBytes: traffic === undefined ? undefined : parseSize(traffic),
    downloadBytes: download === undefined ? undefined : parseSize(download),
    pageMemoryBytes: pageMemory === undefined ? undefined : parseSize(pageMemory),
  })
}
