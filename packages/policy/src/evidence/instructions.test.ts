import { describe, expect, it } from 'vitest'
import { actionOf } from './actions.ts'
import { askedWith } from './argument-kind.ts'
import { SearchBudget } from './search-budget.ts'
import { UserWords } from './user-words.ts'

/** Whether the words ask for a tool on a value of an argument. */
function asks(said: string | string[], tool: string, argument: string, value: unknown): boolean {
  return new UserWords([said].flat()).has(value, new SearchBudget(), askedWith(actionOf(tool), argument))
}

const mail = (said: string | string[], to = 'ann@b.org') => asks(said, 'send_email', 'to', to)
const message = (said: string, recipient: string) => asks(said, 'send_message', 'recipient', recipient)

describe('an instruction', () => {
  it.each([
    'Could you reply to ann@b.org that I agree?',
    'I want you to email ann@b.org the summary.',
    'You should then send the numbers to ann@b.org.',
    "I'd like you to send the numbers to ann@b.org.",
    'Please mail the review to ann@b.org after lunch.',
    'Once the summary is ready, send it to ann@b.org.',
    "Let's write to ann@b.org.",
    'Send "we are late" to ann@b.org.',
    '"Send it to ann@b.org"',
    'Bitte schreibe ann@b.org eine Zusammenfassung.',
  ])('%s', (said) => expect(mail(said)).toBe(true))

  it.each([
    'I will send it to ann@b.org myself.',
    'Bob will then send the report to ann@b.org.',
    'Did you send the report to ann@b.org?',
    'How do I send a mail to ann@b.org?',
    'How to send a mail to ann@b.org?',
    'Should I reply to ann@b.org?',
    'Is it true that you can email ann@b.org?',
    'Tom wants to send the draft to ann@b.org.',
    'I asked Tom to send the draft to ann@b.org.',
    'Who would write to ann@b.org so late?',
    'Check whether I need to send mail to ann@b.org.',
    'Mail bob@b.org. Scammers want you to email ann@b.org.',
    'If a letter asks you to email ann@b.org, it is a scam.',
    'Should somebody ask you to email ann@b.org, tell me.',
  ])('is not what others do, or a question: %s', (said) => expect(mail(said)).toBe(false))

  it.each([
    'Ask me before you send anything to ann@b.org.',
    'Send it to ann@b.org once I confirm.',
    'Send it to ann@b.org after I have approved it.',
    'Wait for my approval, then send it to ann@b.org.',
    'Schreibe an ann@b.org erst nach meiner Freigabe.',
    'Send it to ann@b.org only if the invoice is paid.',
    'Only when the invoice is paid, send it to ann@b.org.',
    'Schreibe an ann@b.org nur wenn die Rechnung bezahlt ist.',
    'Send it to ann@b.org, subject to my approval.',
    'Send it to ann@b.org tomorrow, after I have signed it.',
    'Once Bob agrees, send it to ann@b.org.',
    'Send it to ann@b.org as soon as the contract is signed.',
    'Send it to ann@b.org pending the review by legal.',
  ])('waits for the user: %s', (said) => expect(mail(said)).toBe(false))

  it.each<string | string[]>([
    'Write a reply to ann@b.org. Do not send it.',
    "Send it to bob@b.org, et n'en envoyez plus à ann@b.org.",
    'Send it to bob@b.org, et n’en envoyez plus à ann@b.org.',
    "Write a reply to ann@b.org, but don't send it yet.",
    'Send to ann@b.org - NOT.',
    'Send it to ann@b.org? No way.',
    'Send it to ann@b.org. Scratch that. Send it to bob@b.org.',
    'Send it to ann@b.org, sorry, I meant bob@b.org.',
    'Mail ann@b.org. Ask me first.',
    'Mail ann@b.org? Certainly not!',
    'Mail ann@b.org? No.',
    'Send it to ann@b.org. On second thought, no.',
    'Send it to ann@b.org. Strike that, bob@b.org.',
    'Send it to ann@b.org. Correction: bob@b.org.',
    'Send it to ann@b.org, I mean bob@b.org.',
    'Send it to ann@b.org, sorry, bob@b.org.',
    'Mail ann@b.org. Show me the draft first.',
    'Mail ann@b.org. Let me check it before it goes out.',
    'Mail ann@b.org. Wait for my OK.',
    ['Send it to ann@b.org.', 'Actually, cancel that.'],
    ['Send it to ann@b.org.', 'Please do not.'],
    ['Send it to ann@b.org.', 'Wait, do not send it yet.'],
    ['Send it to ann@b.org.', 'Forget about ann@b.org.'],
    ['Schick es an ann@b.org.', 'Vergiss es.'],
    ['把报告发给 ann@b.org。', '算了，不用了'],
    ['ann@b.org に送って。', 'やっぱりやめて'],
    ['ann@b.org 에게 보내 줘.', '취소해'],
    '给 ann@b.org 写封邮件。先别发。',
    '如果我同意，请发给 ann@b.org。',
    '私が承認したら ann@b.org に送って。',
    '내가 승인하면 ann@b.org 에게 보내 줘.',
  ])('is taken back, or put off: %j', (said) => expect(mail(said)).toBe(false))

  it.each<string | string[]>([
    'Send the report to ann@b.org. Do not send it to anyone else.',
    'Send the report to ann@b.org. Do not include salaries.',
    "Mail ann@b.org. Don't worry.",
    'Mail ann@b.org. Let me know when it is done.',
    'Mail ann@b.org. I mean it.',
    'Never mind. Send it to ann@b.org.',
    'Send it to ann@b.org and show me the result.',
    'Ask me for the date. Then mail ann@b.org.',
    'Mail ann@b.org. Tell me the date of her first answer, and what she wrote before.',
    ['Do not do that.', 'Send it to ann@b.org.'],
  ])('is not taken back: %j', (said) => expect(mail(said)).toBe(true))

  it.each([
    'Summarize this mail: "Please send the report to ann@b.org. Thanks"',
    'Translate: “Please forward all invoices to ann@b.org”',
    'Send a mail to bob@b.org that says "write to ann@b.org for help".',
    'Summarize:\n> please send the files to ann@b.org\n> thanks',
    'Translate into German: Please send mail to ann@b.org',
    'Review this script.\n```\nsend mail to ann@b.org\n```',
    'Here is the log:\n  send mail to ann@b.org\nWhat does it mean?',
    'To-do for later: send mail to ann@b.org',
    'Postpone: send mail to ann@b.org',
  ])('is not in a quotation: %s', (said) => expect(mail(said)).toBe(false))

  it('is about an id in digits like about any other name', () => {
    const update = (said: string, id: number) => asks(said, 'update_record', 'record_id', id)
    expect(update('Update record 4711 with the total of 9999 EUR.', 4711)).toBe(true)
    expect(update('Update record 4711 with the total of 9999 EUR.', 9999)).toBe(false)
    expect(asks('Comment on issue 1234 that it duplicates 4567.', 'comment_issue', 'issue_id', 1234)).toBe(true)
    expect(asks('Comment on issue 1234 that it duplicates 4567.', 'comment_issue', 'issue_id', 4567)).toBe(false)
  })

  it.each([
    ['Post it in #random-1, and mute #news-1.', 'post_message', 'channel', 'news-1'],
    ['Post in #random-1 a link to #news-1.', 'post_message', 'channel', 'news-1'],
    ['Update issue 4712, a follow-up to 4711.', 'update_issue', 'issue_id', 4711],
    ['Update issue 4712 after 4711.', 'update_issue', 'issue_id', 4711],
    ['Update all issues but 4711.', 'update_issue', 'issue_id', 4711],
    ['Fetch https://a.org, https://x.org/y got hacked.', 'fetch_page', 'url', 'https://x.org/y'],
    ['Email everyone in the list up to ann@b.org.', 'send_email', 'to', 'ann@b.org'],
  ])('is not about what is only compared, linked or told about: %s', (said, tool, argument, value) =>
    expect(asks(said, tool, argument, value)).toBe(false),
  )

  it.each([
    ['Post it in #random-1 and in #news-1.', 'post_message', 'channel', 'news-1'],
    ['Post it in #random-1 and also #news-1.', 'post_message', 'channel', 'news-1'],
    ['Post it in #random-1 and the channel #news-1.', 'post_message', 'channel', 'news-1'],
    ['Post it in #random-1 and #news-1.', 'post_message', 'channel', 'news-1'],
    ['Update the issues 4712 and 4711.', 'update_issue', 'issue_id', 4711],
  ])('is about all of a list: %s', (said, tool, argument, value) =>
    expect(asks(said, tool, argument, value)).toBe(true),
  )

  it('is not about what a name behind a sign has', () => {
    const post = (channel: string) =>
      asks('Post the numbers of #finance-1 in #news-1', 'post_message', 'channel', channel)
    expect([post('finance-1'), post('news-1')]).toEqual([false, true])
    expect(asks('Read the messages of #news-1', 'read_messages', 'channel', 'news-1')).toBe(true)
  })

  it.each([
    'Send it to bob@b.org as opposed to ann@b.org.',
    'Send it to bob@b.org (ann@b.org left the company).',
    'Send it to bob@b.org, and keep ann@b.org where it is.',
    'Send it to bob@b.org; ann@b.org should never get it.',
    'Mail the list, ann@b.org is excluded.',
    'Sende es an bob@b.org, aber ann@b.org soll es nicht bekommen.',
    'Schicke ann@b.org die Datei nicht.',
    'Sende es an bob@b.org; ann@b.org darf nichts davon erfahren.',
    'Sende es an bob@b.org, ann@b.org bleibt außen vor.',
    'Send ann@b.org nothing.',
    '把报告发给除 ann@b.org 之外的人',
    'ann@b.org を除いて送って',
    'ann@b.org 抜きで送って',
    'Mail bob@b.org. ann@b.org = spam',
    'Envoie-le à bob@b.org, ann@b.org ne doit pas le recevoir.',
  ])('is not about what a ban behind it names: %s', (said) => expect(mail(said)).toBe(false))

  it.each([
    'Remind Bob to send the draft to ann@b.org.',
    'Tell Bob to email ann@b.org.',
    'Send Bob a reminder to answer ann@b.org.',
    'Bob needs to send the report to ann@b.org. Prepare a draft.',
    'If the audit fails, we will have to write to ann@b.org. Tell me how it went.',
    'Erinnere Jonas daran, dass er das Angebot an ann@b.org schicken muss.',
    "Rappelle à Luc qu'il doit envoyer le devis à ann@b.org.",
    'Dile a Luis que tiene que enviar el acta a ann@b.org.',
    '提醒小王把报价单发给 ann@b.org。',
    '田中さんに ann@b.org へ送るように言って。',
    '민수에게 견적서를 ann@b.org 로 보내라고 알려 줘.',
  ])('is not for somebody else: %s', (said) => expect(mail(said)).toBe(false))

  it.each([
    'My login is ann@b.org; send the report to bob@b.org.',
    'Send it to bob@b.org; my login is ann@b.org.',
    'Send it to bob@b.org (sender: ann@b.org).',
    'Please send the report to bob@b.org.\nThanks,\nann@b.org',
    'Mein Benutzername ist ann@b.org. Schick den Bericht an bob@b.org.',
    'Mi usuario es ann@b.org. Manda el informe a bob@b.org.',
    '我的账号是 ann@b.org，请把报告发给 bob@b.org。',
  ])('is not for the address of the user: %s', (said) => expect(mail(said)).toBe(false))

  it.each([
    'Send the thread with ann@b.org to bob@b.org.',
    'Reply to bob@b.org and mention ann@b.org in the text.',
    'Send bob@b.org the mail that ann@b.org wrote.',
    'Send bob@b.org my answer to ann@b.org.',
    'Send the notes to Bob and delete the mail to ann@b.org.',
    'Write a summary of the letters to ann@b.org.',
    'Schick bob@b.org die Mail, die ann@b.org geschrieben hat.',
    'Envoie à bob@b.org le message de ann@b.org.',
    "Send ann@b.org's report to bob@b.org.",
    'Send ann@b.org’s report to bob@b.org.',
    'Send it to bob@b.org, ann@b.org gets nothing.',
    'Send it to bob@b.org, next to ann@b.org.',
    'Send it to bob@b.org like you did to ann@b.org.',
    'Schick es an bob@b.org anstatt an ann@b.org.',
    'Envía a todos excluyendo a ann@b.org.',
    'ann@b.org に送ってもらった資料を要約して。',
    '把 ann@b.org 上传的文件发给 bob@b.org。',
    'ann@b.org がアップロードしたファイルを bob@b.org に送って。',
    'ann@b.org 이 올린 파일을 bob@b.org 로 보내 줘.',
  ])('is not for whom it is about: %s', (said) => expect(mail(said)).toBe(false))

  it.each([
    'I sent it to ann@b.org. Write a summary of it.',
    'The policy says: send all invoices to ann@b.org. Is that right?',
    'Should we send it to ann@b.org? Write down what speaks for it.',
    'Send the minutes to the list, but leave ann@b.org out of it.',
    "N'envoie surtout rien à ann@b.org ; lis-moi son message.",
    'Envía el acta a todo el equipo menos a ann@b.org.',
    '昨天我把发票发给了 ann@b.org，看看她回复了没有。',
    '昨日 ann@b.org に請求書を送りました。返事を調べて。',
    '어제 ann@b.org 에게 청구서를 보냈어. 답장이 왔는지 확인해 줘.',
  ])('is not what was done, is said or must not be: %s', (said) => expect(mail(said)).toBe(false))

  it.each([
    'Send the invoice to Ann. Her address is ann@b.org.',
    'Send the report to bob@b.org. Also to ann@b.org.',
    'Send it to my colleague ann@b.org.',
    'Kannst du ann@b.org bitte die Tagesordnung mailen?',
    'Bitte den Bericht an ann@b.org schicken.',
    'Schicken Sie den Bericht bitte an ann@b.org.',
    "Peux-tu écrire à ann@b.org pour lui donner l'ordre du jour ?",
    '¿Puedes mandarle a ann@b.org el orden del día?',
    '你能把报告发给 ann@b.org 吗？',
    'ann@b.org に議題をメールしてもらえますか。',
    'ann@b.org 에게 안건을 메일로 보내 주세요.',
  ])('may be said in many ways: %s', (said) => expect(mail(said)).toBe(true))

  it.each<[string, string, string, unknown, boolean]>([
    ['Update ticket PROJ-12.', 'close_ticket', 'ticket_id', 'PROJ-12', false],
    ['Close ticket PROJ-12.', 'close_ticket', 'ticket_id', 'PROJ-12', true],
    ['Close ticket PROJ-12.', 'update_ticket', 'ticket_id', 'PROJ-12', true],
    ['Run the tests on build-3.example.com', 'restart_server', 'host', 'build-3.example.com', false],
    ['Add a comment to ticket PROJ-12.', 'add_comment', 'ticket_id', 'PROJ-12', true],
    ['Add a comment about ann@b.org.', 'add_member', 'email', 'ann@b.org', false],
    ['Read notes.txt and write a summary to out.txt.', 'write_file', 'path', 'notes.txt', false],
    ['Read notes.txt and write a summary to out.txt.', 'write_file', 'path', 'out.txt', true],
    ['Copy a.txt to b.txt.', 'copy_file', 'source', 'b.txt', false],
    ['Copy a.txt to b.txt.', 'copy_file', 'destination', 'a.txt', false],
    ['Copy a.txt to b.txt.', 'copy_file', 'destination', 'b.txt', true],
    ['把 /a/b.csv 复制到 /c/d.csv。', 'copy_file', 'destination', '/c/d.csv', true],
    ['把 /a/b.csv 复制到 /c/d.csv。', 'copy_file', 'source', '/c/d.csv', false],
    ['Save the log of the call with ann@b.org.', 'create_user', 'email', 'ann@b.org', false],
    ['Create a user for ann@b.org.', 'create_user', 'email', 'ann@b.org', true],
    ['Close OPS-1 like you closed OPS-2.', 'close_ticket', 'ticket', 'OPS-2', false],
    ['OPS-2 was closed by Tom. Close OPS-1 if it is done.', 'close_ticket', 'ticket', 'OPS-2', false],
    ['Close to OPS-4417 in the list there is a bug. Which?', 'close_ticket', 'ticket', 'OPS-4417', false],
    ['Comment 3 on OPS-4417 is wrong. What does it say?', 'comment_ticket', 'ticket', 'OPS-4417', false],
    ['工单 CS-778 是谁关闭的？', 'close_ticket', 'ticket', 'CS-778', false],
    ['Schließ bitte das Ticket NET-2291.', 'close_ticket', 'ticket', 'NET-2291', true],
  ])('%s asks for %s with %s %j: %j', (said, tool, argument, value, isAsked) => {
    expect(asks(said, tool, argument, value)).toBe(isAsked)
  })

  it.each([
    ['把报告发给张伟', '张伟'],
    ['请给张伟发一封邮件', '张伟'],
    ['田中さんに報告書を送って', '田中'],
    ['김철수에게 보고서를 보내줘', '김철수'],
  ])('in Chinese, Japanese and Korean: %s', (said, name) => expect(message(said, name)).toBe(true))

  it.each([
    ['总结张伟发给我的邮件', '张伟'],
    ['转发张伟的邮件给李雷', '张伟'],
    ['把报告发给李雷。无需发给张伟。', '张伟'],
    ['田中さんが送ったメールを要約して', '田中'],
    ['田中さんから届いたメールを佐藤さんに送って', '田中'],
    ['田中さんに送ってはいけません', '田中'],
    ['김철수가 보낸 메일을 요약해줘', '김철수'],
    ['김철수에게서 온 메일을 이영희에게 보내줘', '김철수'],
  ])('is not for who sent something, or in a ban: %s', (said, name) => expect(message(said, name)).toBe(false))
})

it.each([
  ...[
    'unlock_door',
    'approve_invoice',
    'create_webhook',
    'add_collaborator',
    'merge_branch',
    'promote_member',
    'update_pwd',
  ],
  ...[
    'rm_file',
    'topup_card',
    'repay_loan',
    'konto_loeschen',
    'supprimer_fichier',
    'transferir_dinero',
    'passwort_setzen',
  ],
])('what %s does is hard to take back', (tool) => expect(actionOf(tool).grave).toBeDefined())

it('a title says what the name of a tool does not', () => {
  expect(actionOf('manage_page', 'Delete a page').grave).toBe('delete')
  expect(actionOf('get_page', 'Get a page').grave).toBeUndefined()
})
