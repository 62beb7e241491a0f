// Renders docs/reference/errors.md from the error table in packages/core/src/errors.ts.

/** The page, whole. */
export async function generateErrorDocs() {
  const { ERRORS } = await import('../packages/core/src/errors.ts')
  const rows = Object.entries(ERRORS).map(
    ([code, { meaning, fix, status, retryable, blame }]) =>
      `| \`${code}\` | ${meaning} | ${fix} | ${status} | ${retryable ? 'yes' : 'no'} | ${blame} |`,
  )
  return `# Errors

<!-- Generated from the error table by npm run generate; do not edit. -->

A call never throws because a tool failed: it returns \`ok: false\` with one of these codes. The message contains names and
numbers, \`fix\` says what to change and where, and \`retryable\` says whether the same call may succeed later. For a defect
(\`INTERNAL\`) the model sees only the call id; the stack is in the record. The last column says who can fix the problem;
only failures of the tool count against its circuit breaker.

| code | what happened | what to do | status | retryable | fixed by |
|---|---|---|---|---|---|
${rows.join('\n')}

\`\`\`ts
const result = await hub.call(saveNote, { path: '../outside.md', text: 'x' })
if (!result.ok) console.log(result.error.code, result.error.message, result.error.fix.hint)
\`\`\`

Tools throw \`ToolError\`. Any other error that your tool throws ends the call with \`TOOL_FAILED\`: the model reads its
redacted message, and the record keeps the stack.

\`\`\`ts
const [path, size, limit] = ['a.log', 12_000_000, 5_000_000]
throw new ToolError('FILE_TOO_LARGE', \`\${path} has \${size} bytes, the limit is \${limit}.\`, {
  hint: 'Read a part with offset and limit.',
  details: { size, limit }, // recorded, never sent to the model
})
\`\`\`
`
}
