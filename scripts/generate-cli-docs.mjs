// Renders docs/reference/cli.md from the help of every command in src/cli.

/** The page, whole. */
export async function generateCliDocs() {
  const { generateCliDocs: render } = await import('../src/cli/generate-cli-docs.ts')
  return render()
}
