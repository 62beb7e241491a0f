import type { SourceHost } from '../../core/index.ts'
import { lookAtKeys } from '../../records/redaction/index.ts'
import { fillReferences, type ReferenceSources } from './fill-references.ts'

/** Shorter ones would hide ordinary words. */
const MIN_SECRET_LENGTH = 6
const HARMLESS: ReadonlySet<string> = new Set(
  `HOME PATH USER USERNAME LOGNAME PWD OLDPWD SHELL LANG LANGUAGE TERM TZ TMPDIR TMP TEMP HOSTNAME EDITOR DISPLAY CI
  NODE_ENV`.split(/\s+/),
)
/** `PROJECT_DIR=/home/me/project`: without it, no result of a server that works there could be read. */
const NAMES_FOLDER = /(?:^|_)(?:DIR|DIRECTORY|FOLDER|PATH|ROOT|HOME|WORKSPACE|CWD)$/i
const IS_PLACE = /^(?:[/~]|\.{1,2}\/|[A-Za-z]:\\)/
const kindOf = lookAtKeys(undefined, (key) => key)

/** Fills in what the texts of a server's configuration refer to. */
export interface ServerReferences {
  fill(text: string, where: string): string
  /** The same for variables or headers; one whose name says that it is secret is hidden even where it refers to nothing. */
  fillAll(texts: Readonly<Record<string, string>> | undefined, where: string): Readonly<Record<string, string>>
}

/** Fills in references; whatever comes from the environment or from secrets no record and no result holds from then on. */
export function openReferences(
  server: string,
  { host, env }: { readonly host: Pick<SourceHost, 'secret' | 'hide'>; readonly env: ReferenceSources['env'] },
): ServerReferences {
  const references: ReferenceSources = {
    env,
    secret: (name) => host.secret(name),
    onValue: (kind, name, value) => {
      if (kind === 'secret' || !isHarmless(name, value)) hide([value])
    },
  }
  const hide = (values: readonly string[]) => {
    const all = values.flatMap((value) => [value, value.slice(value.indexOf(' ') + 1)])
    const secrets = [...new Set(all)].filter((value) => value.length >= MIN_SECRET_LENGTH)
    if (secrets.length > 0) host.hide(secrets)
  }
  const fill = (text: string, where: string) => fillReferences(text, references, `${where} of the MCP server ${server}`)
  return {
    fill,
    fillAll: (texts = {}, where) => {
      const filled = Object.entries(texts).map(([key, text]) => [key, fill(text, `${where}.${key}`)] as const)
      hide(filled.flatMap(([key, value]) => (kindOf(key) === 'ordinary' ? [] : [value])))
      return Object.fromEntries(filled)
    },
  }
}

function isHarmless(name: string, value: string): boolean {
  return HARMLESS.has(name.toUpperCase()) || (NAMES_FOLDER.test(name) && IS_PLACE.test(value))
}
