/**
 * Kinds of actions: the verbs in the names of tools, the words that ask for them (English, German, French, Spanish), and
 * the Chinese, Japanese and Korean verbs, which stand inside of a sentence. A verb that is in no list asks for the tools
 * that are called like it.
 */
const KINDS: readonly { readonly tools: string; readonly asks: string; readonly joined: string }[] = [
  {
    tools:
      'send email mail message reply respond answer post forward notify dm write contact submit announce broadcast compose',
    asks: `send email mail message write reply respond answer post forward notify tell text dm ping contact inform submit announce
      sende senden schick schicke schicken schreib schreibe schreiben antworte antworten beantworte maile mailen leite weiterleiten poste
      envoie envoyez envoyer écris écrivez écrire réponds répondez répondre transfère transférez transférer
      envía envíale enviar enviarle manda mándale mandar mandarle escribe escríbele escribir responde responder reenvía reenviar`,
    joined:
      '发 發 寄 回复 回覆 转发 轉發 通知 告诉 告訴 写信 寫信 写封 寫封 写一封 写邮件 送 返信 転送 メール 連絡 伝え 投稿 보내 전송 답장 메일 알려 전달 게시 올려',
  },
  {
    tools: 'create make new schedule plan generate register insert open book',
    asks: `create schedule plan put generate register arrange organize organise insert
      erstelle erstell erstellen lege leg trage füge plane crée créez créer ajoute ajoutez planifie crea crear añade añadir`,
    joined: '创建 創建 新建 添加 增加 建立 安排 新增 作成 作って 追加 登録 만들 추가 생성 등록',
  },
  {
    tools: 'save draft record log note upload store write',
    asks: `save draft record log note upload store write put
      speichere speicher speichern schreib schreibe notiere enregistre enregistrez enregistrer écris guarda guardar escribe`,
    joined: '保存 记录 記錄 上传 上傳 写入 記録 書いて 저장 기록 올려',
  },
  {
    tools: 'reserve book rent hire',
    asks: 'reserve book rent hire reserviere buche buchen miete réserve réservez réserver loue reserva reservar alquila',
    joined: '预订 預訂 预约 預約 订 訂 租 予約 예약 빌려',
  },
  {
    tools:
      'get read visit open fetch browse check find search list view load crawl scrape download query lookup describe show',
    asks: `get read visit open fetch browse look check see show find search list view summarize summarise give load download what who where when which how
      lies lese öffne zeige zeig suche such prüfe ouvre lis montre cherche résume lee abre muestra busca resume mira`,
    joined: '读 讀 看 打开 打開 访问 訪問 查 获取 搜 总结 總結 読 見 開 調べ 要約 읽 보여 열어 확인 찾 요약',
  },
  {
    tools: 'update change edit modify set adjust correct fix',
    asks: `update change edit modify set adjust rename move reschedule correct fix replace convert mark complete close reopen extend postpone shift append add
      ändere ändern aktualisiere verschiebe korrigiere modifie modifiez corrige actualiza cambia modifica`,
    joined: '更新 修改 更改 改 变更 變更 変更 修正 수정 변경 바꿔 업데이트',
  },
  // A word for one kind of change asks for a tool for changes of any kind, and not the other way round.
  { tools: 'rename', asks: 'rename', joined: '重命名' },
  { tools: 'replace convert', asks: 'replace convert ersetze remplace reemplaza', joined: '替换 替換 置き換え' },
  {
    tools: 'move reschedule postpone shift extend',
    asks: 'move reschedule postpone shift extend verschiebe verlege déplace mueve',
    joined: '移动 移動 改期 推迟 延期 옮겨 연기',
  },
  {
    tools: 'mark complete close',
    asks: 'mark complete close schließe schließ schließen ferme fermez fermer cierra cerrar',
    joined: '关闭 關閉 閉じ 닫아',
  },
  { tools: 'reopen', asks: 'reopen', joined: '重新打开 重新打開' },
  { tools: 'append', asks: 'append add', joined: '追加 추가' },
  {
    tools: 'comment',
    asks: 'comment kommentiere kommentieren commente commentez commenter comenta comentar',
    joined: '评论 評論 コメント 댓글',
  },
  {
    tools: 'add include join attach enroll enrol put append',
    asks: 'add include assign join attach enroll enrol put append insert füge leg lege ajoute ajoutez mets añade añadir pon',
    joined: '加入 添加 追加 入れ 추가 담아 넣어',
  },
  {
    tools: 'assign',
    asks: 'assign weise assigne assignez asigna asignar',
    joined: '分配 指派 割り当て 배정',
  },
  { tools: 'invite', asks: 'invite add invitez lade invita invitar', joined: '邀请 邀請 招待 초대' },
  {
    tools: 'run execute start launch trigger',
    asks: 'run execute start launch trigger starte lance inicia',
    joined: '运行 運行 执行 執行 启动 実行 起動 실행 시작',
  },
  { tools: 'deploy', asks: 'deploy', joined: '部署 デプロイ 배포' },
  { tools: 'restart', asks: 'restart reboot', joined: '重启 重啟 再起動 재시작' },
  {
    tools: 'copy export import sync backup',
    asks: 'copy export import sync save backup kopiere kopieren copie copiez copier copia copiar',
    joined: '复制 複製 导出 コピー 복사',
  },
]

/** Tools whose names speak of these ask in spite of the user's words: what they do is hard to take back, or keeps acting. */
const GRAVE = new Set(
  `password passwords passwd pwd passphrase passcode passkey passkeys secret secrets key keys apikey token tokens credential credentials login
  mfa otp totp sso oauth certificate certificates passwort kennwort contrasena contraseña
  role roles promote demote elevate escalate sudo superuser superadmin administrator rolle rollen rol owner owners ownership admin permission permissions privilege privileges access acl grant grants revoke allow authorize authorise impersonate
  share shares sharing unshare publish publishes unpublish public visibility expose teilen freigeben freigabe partager compartir veröffentlichen publier publicar
  delete deletes deletion del rm unlink prune discard void remove removes löschen loeschen loesche entfernen supprimer effacer eliminar borrar erase purge destroy drop wipe trash cancel terminate uninstall unsubscribe reset clear truncate overwrite
  unlock disarm disable deactivate suspend kick ban collaborator collaborators delegate forwarding webhook webhooks filter rule rules
  merge approve sign accept paid order subscribe subscription
  pay pays payment payments payout purchase buy checkout transfer transfers money fund funds transaction transactions withdraw withdrawal deposit refund remit wire charge billing bank invest trade sell bid donate tip topup recharge redeem
  repay repayment loan lend borrow payroll salary payday settle zahlen bezahlen zahlung überweisen ueberweisen überweisung ueberweisung payer paiement virement pagar pago transferir transferencia`.split(
    /\s+/,
  ),
)

interface Kind {
  readonly tools: ReadonlySet<string>
  readonly asks: ReadonlySet<string>
  readonly joined: RegExp
}

/** The kinds of actions, each by its place. */
export const kinds: readonly Kind[] = KINDS.map(({ tools, asks, joined }) => ({
  tools: new Set(tools.split(' ')),
  asks: new Set(asks.split(/\s+/)),
  joined: new RegExp(joined.replaceAll(' ', '|'), 'gu'),
}))

/** Kinds of things that people name next to a name: "the general channel". One never means another. */
const THINGS = groups([
  'channel channels room',
  'file files document documents doc docs folder spreadsheet attachment filename path',
  'website site webpage page url uri link homepage blog host domain',
  'branch branches',
  'repo repos repository',
  'event events meeting appointment',
  'account accounts iban',
  'hotel hotels',
  'restaurant restaurants',
  'company companies',
  'project projects',
  'ticket tickets issue issues',
  'group groups team teams',
])

/** Words for what tools make, each line with those that people use for the same. */
const MADE = groups([
  'event meeting appointment calendar termin treffen besprechung kalender réunion rendez-vous reunión cita 会议 會議 日程 会議 予定 회의 일정',
  'file document doc note datei dokument notiz fichier note archivo documento nota 文件 文档 笔记 ファイル 文書 メモ 파일 문서 메모',
  'contact kontakt contacto 联系人 聯絡人 連絡先 연락처',
  'user account member benutzer konto utilisateur compte usuario cuenta 用户 用戶 账号 ユーザー アカウント 사용자 계정',
  'ticket issue task aufgabe tâche tarea 工单 工單 任务 チケット タスク 티켓 작업',
  'basket cart warenkorb panier cesta carrito 购物车 購物車 カート 장바구니',
  'comment kommentar commentaire comentario 评论 評論 コメント 댓글',
  'channel room kanal canal 频道 頻道 チャンネル 채널',
  'list liste lista 列表 リスト 목록',
])

/** Those that stand in a sentence without blanks. */
const MADE_JOINED = [...MADE].filter(([word]) => word.charCodeAt(0) > 0x2fff)

function groups(lines: readonly string[]): ReadonlyMap<string, string> {
  return new Map(lines.flatMap((line) => line.split(' ').map((word, _, words) => [word, words[0]!] as const)))
}

/** The kind of thing that a word says. */
export function thingOf(word: string): string | undefined {
  return THINGS.get(word.toLowerCase())
}

/** What a tool does, as its name says it: `send_email`, `mcp/mail.sendEmail`, `gmail-send`. */
export interface ToolAction {
  /** Words that ask for it. */
  readonly verbs: ReadonlySet<string>
  /** The kinds of actions that it belongs to, by their place. */
  readonly kinds: readonly number[]
  /** The word of the name that says that its effect is hard to take back: `delete`, `password`, `share`, `pay`. */
  readonly grave?: string
  /** Whether it reads. */
  readonly isRead: boolean
  /** What it makes or adds to, if its verb alone says too little: a request to create a file does not ask for `create_user`. */
  readonly makes: readonly string[]
  /** All words of the name. */
  readonly words: readonly string[]
}

const known = new Map<string, ToolAction>()
const MAX_KNOWN = 10_000

/** Reads the name of a tool; its title may say what the name does not. */
export function actionOf(tool: string, title = ''): ToolAction {
  if (title !== '') {
    const action = actionOf(tool)
    const grave = action.grave ?? wordsOfName(title).find((word) => GRAVE.has(word))
    return grave === undefined ? action : { ...action, grave }
  }
  let action = known.get(tool)
  if (action === undefined) {
    action = readAction(tool)
    if (known.size >= MAX_KNOWN) known.clear()
    known.set(tool, action)
  }
  return action
}

function readAction(tool: string): ToolAction {
  const own = wordsOfName(tool.slice(Math.max(tool.lastIndexOf('.'), tool.lastIndexOf('/')) + 1))
  const verb = own.find((word) => kinds.some(({ tools }) => tools.has(word))) ?? own[0] ?? ''
  const found = kinds.flatMap(({ tools }, place) => (tools.has(verb) ? [place] : []))
  const verbs = new Set([verb, ...found.flatMap((place) => [...kinds[place]!.asks])])
  // "Add a comment" asks for a tool that adds comments, and for no other that adds.
  if (verb === 'add') for (const word of own) verbs.add(`add ${word}`)
  const grave = own.find((word) => GRAVE.has(word))
  const isRead = found.some((place) => kinds[place]!.tools.has('get'))
  const makes = MAKERS.has(verb) ? own.filter((word) => word !== verb && word.length > 3) : []
  return { verbs, kinds: found, isRead, makes, words: own, grave }
}

/** Verbs of tools that say nothing without what is made. */
const MAKERS = new Set(['create', 'make', 'new', 'generate', 'register', 'insert', 'add', 'open', 'book', 'schedule'])

/** Whether a text names what a tool makes. */
export function namesWhatIsMade({ makes }: ToolAction, text: string): boolean {
  if (makes.length === 0) return true
  const wanted = new Set(makes.flatMap((word) => [singular(word), MADE.get(singular(word)) ?? '']))
  const said = text.toLowerCase().match(/[\p{L}\p{M}-]+/gu) ?? []
  if (said.some((word) => wanted.has(singular(word)) || wanted.has(MADE.get(singular(word)) ?? '-'))) return true
  return MADE_JOINED.some(([word, group]) => wanted.has(group) && text.includes(word))
}

/** A word of a name without the ending of a plural. */
export function singular(word: string): string {
  return word.length > 3 ? word.replace(/(?<=[^s])s$/, '') : word
}

/** A caller may choose names; of a longer one, the end counts. */
const MAX_NAME_CHARS = 100

const knownNames = new Map<string, readonly string[]>()

/** The words of a name in any of the usual forms, in lower case: `new_startTime` has three. */
export function wordsOfName(name: string): readonly string[] {
  const end = name.slice(-MAX_NAME_CHARS)
  let found = knownNames.get(end)
  if (found === undefined) {
    found = end
      .replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' ')
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((word) => word !== '')
    if (knownNames.size >= MAX_KNOWN) knownNames.clear()
    knownNames.set(end, found)
  }
  return found
}

/** What the user must have asked for, so that a value counts as theirs. */
export interface NeededRequest {
  readonly action: ToolAction
  /** The kinds of things that the argument may name. */
  readonly things: ReadonlySet<string>
  /** Whether it names people. */
  readonly isPerson: boolean
  /** Whether it says where something comes from, or where it goes. */
  readonly role: 'source' | 'destination' | undefined
}
