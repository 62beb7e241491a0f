// Renders docs/cli.md from the help of every command in src/cli (built into dist/).

/** The page, whole. */
export async function generateCliDocs() {
  const { generateCliDocs: render } = await import('../dist/cli/generate-cli-docs.js')
  return render()
}
