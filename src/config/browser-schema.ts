import { z } from 'zod'
import { duration, key, size, text } from './schema-parts.ts'

/** `browser`: the browser that agents use. */
export const browserSchema = z.strictObject({
  executable: key(text, 'The Chromium, Chrome or Edge to use; the usual places are looked at unless said.'),
  channel: key(
    z.enum(['chromium', 'chrome', 'msedge']),
    'Which browser to look for; any, Chromium first, unless said.',
  ),
  headless: key(z.boolean(), 'false shows its windows.', true),
  sandbox: key(
    z.enum(['own', 'jail', 'none']),
    "How it is kept from the machine: Chromium's own sandbox where that works, else the jail of commands; none only if you say so.",
  ),
  idle: key(duration, 'How long nobody may use it before it is closed.', '5m'),
  timeout: key(duration, 'How long one action may take.', '30s'),
  tabs: key(z.int().min(1).max(64), 'The most tabs of one run.', 8),
  traffic: key(size, 'The most bytes that the pages of one run send and get.', '200MB'),
  download: key(size, 'The most bytes of one download.', '50MB'),
  pageMemory: key(size, 'The most memory for the scripts of one page.', '512MB'),
})
