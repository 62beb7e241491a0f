/** Waits until the canvas is drawn, then runs a script in it; gives what came of both, as JSON. */
export function drawScript(script = ''): string {
  return `(async () => {
const problem = await window.canvasDrawn
try {
const value = await (async () => {
${script}
})()
return { problem, value }
} catch (error) {
return { problem, failure: String(error?.message ?? error).slice(0, 2000) }
}
})()`
}
