import { type Loader, type LoggerInterface, loader, parse, View } from 'vega'
import { expressionInterpreter } from 'vega-interpreter'
import { compile, type TopLevelSpec } from 'vega-lite'
import { draw } from './draw.ts'

const DARK = {
  background: 'transparent',
  title: { color: '#e7e9ed' },
  axis: {
    labelColor: '#b3bac6',
    titleColor: '#e7e9ed',
    gridColor: '#3a414d',
    domainColor: '#6f7887',
    tickColor: '#6f7887',
  },
  legend: { labelColor: '#b3bac6', titleColor: '#e7e9ed' },
  header: { labelColor: '#b3bac6', titleColor: '#e7e9ed' },
  view: { stroke: '#3a414d' },
  style: { 'guide-label': { fill: '#b3bac6' }, 'guide-title': { fill: '#e7e9ed' } },
}

/** Refuses to load anything: the data is in the chart itself. */
function refuse(): Promise<never> {
  return Promise.reject(new Error('A chart has its data inside: put it in data.values, a URL is not loaded.'))
}

/** Collects the errors while a chart is drawn, and drops all other messages. */
function listen(problems: string[]): LoggerInterface {
  const logger: LoggerInterface = {
    level: (() => logger) as LoggerInterface['level'],
    error(...words: readonly unknown[]) {
      problems.push(words.map(String).join(' '))
      return logger
    },
    // Vega reports failed loading only as a warning, and draws an empty chart.
    warn: (...words: readonly unknown[]) => (words[0] === 'Loading failed' ? logger.error(...words.slice(1)) : logger),
    info: () => logger,
    debug: () => logger,
  }
  return logger
}

draw(async (content, place, theme) => {
  const problems: string[] = []
  const logger = listen(problems)
  const spec = JSON.parse(content) as TopLevelSpec
  const { spec: chart } = compile(spec, { logger, ...(theme === 'dark' && { config: DARK }) })
  const closed: Loader = { ...loader(), load: refuse, sanitize: refuse, http: refuse, file: refuse }
  // Expressions are interpreted: the content security policy does not allow evaluating code.
  const view = new View(parse(chart, undefined, { ast: true }), {
    container: place,
    expr: expressionInterpreter,
    hover: true,
    loader: closed,
    logger,
    renderer: 'svg',
  })
  await view.runAsync()
  if (problems.length > 0) throw new Error(problems[0])
})
