// Turns packages/policy/src/default.yaml into packages/policy/src/default-policy.generated.ts, each rule with its line.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { LineCounter, parseDocument } from 'yaml'

const SOURCE = new URL('../packages/policy/src/default.yaml', import.meta.url)
const RESULT = new URL('../packages/policy/src/default-policy.generated.ts', import.meta.url)

/** The text that default-policy.generated.ts must have. */
export function generateDefaultPolicy() {
  const lines = new LineCounter()
  const document = parseDocument(readFileSync(SOURCE, 'utf8'), { lineCounter: lines })
  if (document.errors.length > 0) throw document.errors[0]
  const policy = { always: rulesOf(document, lines, 'always'), defaults: rulesOf(document, lines, 'defaults') }
  return `// Generated from default.yaml by scripts/generate-default-policy.mjs; do not edit.
import type { SourcedRule } from '@tool-hub/core'

/** The shipped policy: what always holds, and what holds where the owner says nothing. */
export const DEFAULT_POLICY: { readonly always: readonly SourcedRule[]; readonly defaults: readonly SourcedRule[] } = ${JSON.stringify(policy, null, 2)}
`
}

function rulesOf(document, lines, layer) {
  const rules = document.toJS()[layer]
  return document.get(layer).items.map((item, index) => ({
    rule: rules[index],
    source: { file: 'shipped policy', line: lines.linePos(item.range[0]).line },
    base: '/',
  }))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(RESULT, generateDefaultPolicy())
