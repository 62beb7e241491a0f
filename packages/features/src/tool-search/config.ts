import { defineConfig } from '@tool-hub/core'
import { key, text, withoutUndefined } from '@tool-hub/core/config'
import { z } from 'zod'
import { DISCOVERY_MODES, type ToolSearchOptions } from './types.ts'

/** The section `toolSearch` of the config file. */
export const toolSearchConfig = defineConfig({
  description: 'How tools are found, and when models are shown a search for them; docs/reference/tool-search.md.',
  schema: z.strictObject({
    discovery: key(
      z.enum(DISCOVERY_MODES),
      'Whether models are shown a search instead of all tools: always (on), never (off), or with more than 30 tools besides the built-in ones or 10,000 tokens of their schemas (auto).',
      'auto',
    ),
    pin: key(
      z.array(text).max(1_000),
      'Tools and groups that models are always shown, besides those of tools.profile.',
    ),
  }),
  toOptions: ({ discovery, pin }) => withoutUndefined<ToolSearchOptions>({ discovery, pin }),
})
