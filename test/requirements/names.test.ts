import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as api from '../../packages/library/src/index.ts'
import { realHub } from '../support/real-hub.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** Every name of an interface, a type, a function, an error or a tool that the documents use, by document. */
const NAMES: Readonly<Record<string, string>> = {
  'core tools': `ToolSpec ToolIntent PTCRuntime Registry PolicyEngine SchemaValidator Evidence EventLog Metrics CoreToolsModule
    LocalCoreAdapter CoreToolsConfig fileRef requestId taskId idempotencyKey sandboxRoot maxReadBytes maxHttpBytes
    maxDownloadBytes allowedHosts blockedCidrs defaultTimeoutMs httpUserAgent enableAutoWriteLargeResponses overwrite
    confirm headers core/fs.readText core/fs.writeText core/fs.listDir core/fs.searchText core/fs.sha256
    core/fs.deletePath core/http.fetchText core/http.fetchJson core/http.downloadFile core/http.head
    core/util.json.select core/util.text.truncate core/util.hash.sha256Text core/util.time.now
    core/util.template.render read:fs write:fs network danger:destructive maxRetries INPUT_SCHEMA_INVALID POLICY_DENIED
    PATH_OUTSIDE_SANDBOX FILE_TOO_LARGE HTTP_DISALLOWED_HOST HTTP_TIMEOUT HTTP_TOO_LARGE UPSTREAM_ERROR
    OUTPUT_SCHEMA_INVALID path text mkdirp maxEntries includeHidden recursive maxDepth root query glob maxMatches
    maxFiles url method body timeoutMs maxBytes destPath json maxChars template data bytes sha256 entries matches file
    lineNo excerpt status value done_when toolName`,
  'agent engine': `BuiltinToolsMap PluginManager getTools EngineOptions beforeToolCall afterToolCall tool-result truncateOutput
    MAX_TOOL_OUTPUT_LENGTH ToolExecutionContext onClarificationRequest abortSignal streamTextAI wrapToolsWithContext
    filePath read write edit grep ls bash tavily clarify offset limit oldString replaceAll glob type context headLimit
    timeout defaultAnswer totalLines stdout stderr exitCode`,
  'tool module': `ToolRegistry Register Get List ListForLLM ToolDefinition ToolHandler ToolOutput PolicyGate Check RequestApproval
    ToolRequest PolicyDecision PolicyAllow PolicyAsk PolicyDeny ToolExecutor Execute ToolCall ToolResult AuditLogger
    ExecutorConfig ToolNotFoundError ArgumentParseError AuditEvent AuditPolicyDenied AuditToolExecuted PolicyDeniedError
    ApprovalDeniedError PathNotAllowedError ReadFileTool RunShellTool SearchFilesTool read_file run_shell search_files
    write_file list_files default_timeout max_output_size max_size allowed_paths denied_paths max_results
    category tags version JSONSchema PolicyAction default whitelist blacklist constraints containsDangerousChars
    isPathAllowed path start_line end_line command cwd pattern file_pattern Parameters`,
  'abstraction layer': `AgentTool AgentToolResult AgentToolUpdateCallback AnyAgentTool createReadTool createWriteTool createEditTool
    createExecTool createMoltbotCodingTools toToolDefinitions ToolDefinition TOOL_GROUPS isToolAllowedByPolicy
    normalizeToolName expandToolGroups ToolPolicy logError jsonResult toClientToolDefinitions ClientToolDefinition
    registerTool TypeBox exec process apply_patch sessions_list sessions_send sessions_spawn session_status web_search
    web_fetch message browser canvas cron group:fs group:runtime group:web group:sessions group:messaging minimal coding
    messaging full pending file_path offset limit details label`,
  toolsets: `Toolset FilesystemToolset SkillToolset MemoryToolset PermissionPolicy EffectivePermissionPolicy read_file
    write_file list_files grep_files list_skills load_skill recall_memory write_memory write_mode tool.started
    tool.completed tool.failed ToolResult deliverables
    skill_id query scope limit content tags pattern path
    disabled candidate external logs/tools.jsonl logs/errors.jsonl events.jsonl workspace archive`,
}
const TEXTS = ['Error reading file:', 'Command contains dangerous characters', 'Exit code:']
/** Types in the examples of the page, and names of the left side that it repeats on the right. */
const TYPES = [
  'AgentTool',
  'AgentToolUpdateCallback',
  'AnyAgentTool',
  'ClientToolDefinition',
  'ToolDefinition',
  'ToolPolicy',
]
/** Methods of other objects that stand alone in a cell. */
const OF_OTHERS = new Set(['execute', 'handler', 'setup'])

const page = readFileSync('docs/reference/formats.md', 'utf8')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (there|key) /.test(line))
  .map((line) => line.slice(2, -2).split(' | ') as [string, string])
const codes = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)

describe('the names of the documents', () => {
  it.each(Object.entries(NAMES))('stand in the page that maps them: %s', (_, names) => {
    const mapped = rows.flatMap(([there]) => codes(there)).join(' ')
    const missing = names
      .split(/\s+/)
      .filter((name) => !new RegExp(`(?<![\\w.-])${name}\\b|\\.${name}\\b`).test(mapped))
    expect(missing).toEqual([])
  })

  it('include the texts of errors', () => {
    for (const text of TEXTS)
      expect(
        rows.some(([there]) => there.includes(text)),
        text,
      ).toBe(true)
  })

  it('have counterparts that exist', async () => {
    const skills = temporaryFolder()
    mkdirSync(join(skills, 'notes'))
    writeFileSync(join(skills, 'notes/SKILL.md'), '---\nname: notes\ndescription: Writes notes.\n---\nWrite notes.\n')
    const { hub } = realHub({ skills: [skills] })
    await hub.ready({ all: true })
    const types = ['index', 'public'].map((name) => readFileSync(`packages/library/src/${name}.ts`, 'utf8')).join('\n')
    let checked = 0
    const check = (exists: boolean, what: string) => {
      checked += 1
      expect(exists, what).toBe(true)
    }
    for (const [there, here] of rows) {
      for (const code of codes(here)) {
        for (const [word] of code.matchAll(/\b[A-Z][A-Z]+(?:_[A-Z]+)+\b/g)) check(word in api.ERRORS, word)
        for (const [, path] of code.matchAll(/\bhub\.([\w.]+)/g)) {
          const found = path!.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown>)?.[key], hub)
          check(found !== undefined, `hub.${path}`)
        }
        for (const [, name] of code.matchAll(/(?<![\w.])([a-z]\w+)\(/g))
          if (!OF_OTHERS.has(name!)) check(name! in api, name!)
      }
      if (here.startsWith('the same tools'))
        for (const code of codes(there)) check(hub.registry.get(code) !== undefined, code)
      // The page says that these are the same: functions and constants, types, or codes.
      if (!/^the same( codes| types)?(;|$)/.test(here) || there.startsWith('the text')) continue
      for (const code of codes(there)) {
        const [name = ''] = /^[\w.]+/.exec(code) ?? []
        if (here === 'the same codes') check(name in api.ERRORS, name)
        else if (/^[A-Z]\w*[a-z]/.test(name)) check(new RegExp(`\\b${name}\\b`).test(types), name)
        else if (/^(to|json|expand|normalize|is|TOOL|truncate)/.test(name)) check(name in api, name)
      }
    }
    for (const name of TYPES) check(new RegExp(`(type )?\\b${name}\\b`).test(types), name)
    expect(checked).toBeGreaterThan(60)
  })

  it('of arguments are arguments of the tools', async () => {
    const { hub } = realHub({ skills: [temporaryFolder()] })
    await hub.ready({ all: true })
    const listed = rows.filter(([, here]) => here.startsWith('the same arguments')).flatMap(([there]) => codes(there))
    expect(listed.length).toBeGreaterThan(25)
    for (const code of listed) {
      const [, tool, names] = /^(\S+) \{ (.+) \}$/.exec(code)!
      // Of a wrong type, so that nothing is done: the error names what is wrong, and what is unknown.
      const wrong = Object.fromEntries(names!.split(', ').map((name) => [name, { wrong: [] }]))
      const { error } = await hub.callDynamic(tool!, wrong)
      expect(error?.code, code).toBe('INPUT_SCHEMA_INVALID')
      expect(error?.message, code).not.toContain('must have no key')
    }
    expect((await hub.callDynamic('read_file', { pth: 'a' })).error?.message).toContain('must have no key')
  })

  it('of error types are codes of real calls', async () => {
    const { hub } = realHub({
      policy: [{ deny: 'run_shell' }, { ask: 'write_file' }],
      approve: () => ({ decision: 'deny' }),
    })
    const executor = api.createExecutor(hub)
    const codeOf = (name: string, args: object | string) =>
      executor.execute({ id: 'c', name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }).then(
        ({ is_error }) => (is_error ? 'is_error' : 'ok'),
        ({ code }) => code,
      )
    expect(await codeOf('no_such_tool', {})).toBe('TOOL_NOT_FOUND')
    expect(await codeOf('read_file', '{')).toBe('INPUT_SCHEMA_INVALID')
    expect(await codeOf('run_shell', { command: 'ls' })).toBe('POLICY_DENIED')
    expect(await codeOf('write_file', { path: 'a.txt', content: 'a' })).toBe('APPROVAL_DENIED')
    expect(await codeOf('read_file', { path: 'missing.txt' })).toBe('is_error')
    const outside = await hub.callDynamic('read_file', { path: '/etc/hostname' })
    expect(outside.error?.code).toBe('PATH_OUTSIDE_SANDBOX')
  })
})
