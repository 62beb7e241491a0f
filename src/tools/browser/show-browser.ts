import type { Content } from '../../core/result.ts'
import { wrapUntrusted } from '../web/wrap-untrusted.ts'
import type { BrowserOutput } from './browser-output.ts'

/** What a model sees: what was done in our own words, and all that is the page's inside a frame. */
export function showBrowser(output: BrowserOutput): Content {
  const done = ownWords(output).join(' ')
  const seen = pageWords(output)
  const text = seen.length === 0 ? done : `${done}\n${wrapUntrusted(seen.join('\n'), output.url ?? 'browser')}`
  if (!output.image) return text
  const { data, mediaType } = output.image
  return [
    { type: 'text', text },
    { type: 'image', data, mediaType },
  ]
}

function ownWords(output: BrowserOutput): string[] {
  const { action, tab, status, browser, snapshot, image, file, console } = output
  return [
    `${action}: done${tab ? ` in tab ${tab}` : ''}${status ? `, status ${status}` : ''}.`,
    ...(browser ? [aboutBrowser(browser)] : []),
    ...(snapshot?.isCut ? [aboutCut(snapshot)] : []),
    ...(image
      ? [`${image.mediaType}, ${image.width} x ${image.height}${image.isCut ? ', the page goes on' : ''}.`]
      : []),
    ...(file ? [aboutFile(file)] : []),
    ...(output.value?.isCut ? ['The value is cut.'] : []),
    ...(console && console.dropped > 0 ? [`${console.dropped} older lines are gone.`] : []),
    ...besides(output),
  ]
}

function besides({ refusedCount, opened, popupsClosed, downloadsStopped }: BrowserOutput): string[] {
  return [
    ...(refusedCount ? [`${refusedCount} requests of the page were refused.`] : []),
    ...(opened ? [`The page opened ${opened.join(', ')}.`] : []),
    ...(popupsClosed ? [`${popupsClosed} windows were closed: too many tabs.`] : []),
    ...(downloadsStopped ? [`${downloadsStopped} downloads were stopped; use action download.`] : []),
  ]
}

function aboutBrowser({ isRunning, version, sandbox, tabs }: NonNullable<BrowserOutput['browser']>): string {
  return isRunning ? `The browser runs (${version}, sandbox ${sandbox}), ${tabs} tabs.` : 'The browser does not run.'
}

function aboutCut({ chars, artifact }: NonNullable<BrowserOutput['snapshot']>): string {
  const whole = artifact ? ` The whole, ${chars} characters, is ${artifact}.` : ` The whole has ${chars} characters.`
  return `Parts are left out where it says so: snapshot with the ref before it shows them, or raise maxChars.${whole}`
}

function aboutFile({ path, bytes, sha256, artifact }: NonNullable<BrowserOutput['file']>): string {
  return `${path ? `Written to ${path}` : (artifact ?? 'Not kept')}: ${bytes} bytes, sha256 ${sha256}.`
}

function pageWords({ url, title, tabs, snapshot, value, console, dialogs, refused, file }: BrowserOutput): string[] {
  return [
    ...(url ? [`url: ${url}`] : []),
    ...(title ? [`title: ${title}`] : []),
    ...(tabs ?? []).map((each) => `${each.tab}${each.isCurrent ? ' (current)' : ''}: ${each.url} ${each.title}`),
    ...(dialogs ?? []).map((words) => `dialog ${words}`),
    ...(refused ?? []).map((words) => `refused ${words}`),
    ...(file?.name ? [`file: ${file.name} from ${file.from ?? ''}`] : []),
    ...(snapshot ? ['', snapshot.text] : []),
    ...(value ? ['', value.json || 'undefined'] : []),
    ...(console ? console.lines.map(({ level, text }) => `[${level}] ${text}`) : []),
  ]
}
