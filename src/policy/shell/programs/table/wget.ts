import type { ProgramTable } from '../program-table.ts'
import { hidden, reach } from '../row.ts'

/** wget writes a file unless told to print, and other programs that fetch. */
export const WGET: readonly ProgramTable[] = [
  {
    names: 'wget wget2',
    risk: 'network',
    rows: [
      reach('-O --output-document=FILE', 'writes a file', '-O out.txt', /^(?!-$)/),
      reach('-P --directory-prefix=FILE', 'writes into a folder', '-P x'),
      reach('-o --output-file=FILE', 'writes a file', '-o x.log', /^(?!-$)/),
      reach('-a --append-output=FILE', 'writes a file', '-a x.log'),
      reach('-i --input-file=FILE', 'reads addresses from a file', '-i list'),
      reach('-B --base=TEXT', 'goes to other addresses than it is given', '-B https://example.com'),
      reach('--post-file --body-file=FILE', 'sends a file', '--post-file=x'),
      hidden('--use-askpass=TEXT', 'runs a program', '--use-askpass=./x'),
      hidden('-e --execute=TEXT', 'sets any of its settings', '-e use_proxy=yes'),
      hidden('--config=FILE', 'reads its settings from a file', '--config=x'),
      reach('-r --recursive', 'follows links and writes many files', '-r'),
      reach('-m --mirror', 'follows links and writes many files', '-m'),
      reach('-p --page-requisites', 'writes many files', '-p'),
      reach('-H --span-hosts', 'goes on to other machines', '-H'),
      reach('-b --background', 'goes on when the call is over', '-b'),
      reach('--load-cookies --save-cookies=FILE', 'reads or writes a file', '--load-cookies=x'),
      reach(
        '--hsts-file --warc-file --warc-dedup --warc-tempdir --rejected-log=FILE',
        'writes a file',
        '--warc-file=x',
      ),
      reach(
        '--certificate --private-key --ca-certificate --ca-directory --crl-file=FILE',
        'uses keys from a file',
        '--ca-certificate=x',
      ),
      reach('--random-file --egd-file=FILE', 'reads a file', '--random-file=x'),
      reach('--no-check-certificate', 'trusts any machine', '--no-check-certificate'),
      reach('--bind-address --bind-dns-address --dns-servers=TEXT', 'chooses its own way', '--dns-servers=1.1.1.1'),
      reach('--content-disposition', 'writes a file named by the other side', '--content-disposition'),
      reach('--trust-server-names', 'writes a file named by the other side', '--trust-server-names'),
      reach('--delete-after', 'deletes files', '--delete-after'),
      reach('-l --level=TEXT', 'follows links', '-l 2'),
      reach('--use-server-timestamps --xattr', 'writes attributes of a file', '--xattr'),
    ],
    texts:
      '-n -t --tries -T --timeout -w --wait -Q --quota -U --user-agent --header --referer --post-data --body-data --method ' +
      '--user --password --http-user --http-password -A --accept -R --reject -D --domains -I -X --max-redirect --limit-rate ' +
      '--dns-timeout --connect-timeout --read-timeout --waitretry --start-pos --compression --secure-protocol',
    flags:
      '-q --quiet -v --verbose -S --server-response --spider -c --continue -N -k -4 -6 --https-only --no-proxy -d -V',
    operands: 'texts',
    operandRows: [
      {
        like: /^(?!https?:)[a-z]+:\/\//i,
        kind: 'reach',
        reason: 'uses another protocol than HTTP',
        example: 'ftp://x.org',
      },
    ],
    implied: {
      unless: '-O --output-document --spider -V',
      kind: 'reach',
      reason: 'writes what it fetches to a file',
      example: 'https://example.com/x',
    },
    clean: '-qO- https://example.com/x',
  },
  {
    names: 'aria2c axel http https xh httpie lynx w3m links elinks',
    operands: 'guess',
    implied: { kind: 'reach', reason: 'reaches the network and may write files', example: 'https://example.com/x' },
  },
]
