/** The address of a tool in the catalogue, with the search and the tab that are there now. */
export function toolPath(tool: string | undefined): string {
  const path = tool === undefined ? '/tools' : `/tools/${encodeURIComponent(tool)}`
  return `${path}${window.location.search}`
}
