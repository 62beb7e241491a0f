import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { measureInRounds } from '../lib/measure.mjs'

const BENCH = fileURLToPath(new URL('..', import.meta.url))
const PROJECT = fileURLToPath(new URL('../..', import.meta.url))

const FIRST_CALL = fileURLToPath(new URL('../peers/first-call-ours.mjs', import.meta.url))
const LANGCHAIN_FIRST_CALL = fileURLToPath(new URL('../peers/first-call-langchain.mjs', import.meta.url))

/** From nothing to ready: a process that imports the library, or lists the tools, beside one that does nothing. */
export default async function coldStart({ rounds }) {
  const { bare, library, list, langchain, first, langchainFirst } = await measureInRounds(
    {
      bare: () => millisecondsOf(['--eval', ''], PROJECT),
      // Inside the project its own name resolves to dist/, by the exports that a user gets.
      library: () => millisecondsOf(['--eval', "import('tool-hub')"], PROJECT),
      list: () => millisecondsOf(['packages/tool-hub/dist/cli/main.js', 'list'], PROJECT),
      langchain: () => millisecondsOf(['--eval', "import('@langchain/core/tools')"], BENCH),
      first: () => millisecondsOf([FIRST_CALL], BENCH),
      langchainFirst: () => millisecondsOf([LANGCHAIN_FIRST_CALL], BENCH),
    },
    { rounds, warmUps: 2 },
  )
  return [
    ratioFigure(
      "import to first call : LangChain's, both without Node's own start",
      over(first, bare),
      over(langchainFirst, bare),
      {
        goal: 0.6,
      },
    ),
    ratioFigure("import('tool-hub') : bare node", library, bare),
    ratioFigure("import('tool-hub') : LangChain tools", library, langchain),
    ratioFigure('tool-hub list : bare node', list, bare),
    figure('bare node', bare, { unit: 'ms' }),
    figure("import('tool-hub')", library, { unit: 'ms' }),
    figure('tool-hub list', list, { unit: 'ms' }),
    figure("import('@langchain/core/tools')", langchain, { unit: 'ms' }),
    figure('import to first call', first, { unit: 'ms' }),
    figure('import to first call, LangChain', langchainFirst, { unit: 'ms' }),
  ]
}

/** What a process took beyond one that does nothing, round by round. */
function over(samples, bare) {
  return samples.map((sample, round) => sample - bare[round])
}

function millisecondsOf(args, cwd) {
  const start = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr}`)
  return performance.now() - start
}
