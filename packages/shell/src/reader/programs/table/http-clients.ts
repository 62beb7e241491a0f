import { hiddenRow, type ProgramTable, reachRow } from '../program-table.ts'

const FROM_FILE = /^@(?!-$)/
const NOT_PRINTED = /^(?!-$|\/dev\/null$)/
const PROXY = 'sends everything through another machine'

/** curl: fetching is what its name says; files it reads or writes and roads around the network rules are not. */
export const CURL: readonly ProgramTable[] = [
  {
    names: 'curl',
    risk: 'network',
    rows: [
      reachRow('-o --output=FILE', 'writes a file', '-o out.txt', NOT_PRINTED),
      reachRow('-O --remote-name --remote-name-all', 'writes a file named by the other side', '-O'),
      reachRow('-J --remote-header-name', 'writes a file named by the other side', '-J'),
      reachRow('--output-dir=FILE', 'writes into a folder', '--output-dir x'),
      reachRow('--create-dirs', 'makes folders', '--create-dirs'),
      reachRow('--metalink', 'writes the files that a list of the other side names', '--metalink'),
      reachRow('--remove-on-error', 'deletes a file', '--remove-on-error'),
      hiddenRow('-K --config=FILE', 'reads its options from a file', '-K curl.cfg'),
      reachRow('-T --upload-file=FILE', 'sends a file', '-T secret.txt'),
      reachRow('-d --data --data-ascii --data-binary --json=TEXT', 'sends a file', '-d @secret.txt', FROM_FILE),
      reachRow('--data-urlencode --url-query=TEXT', 'sends a file', '--data-urlencode x@secret.txt', /^[^=]*@/),
      reachRow('-F --form=TEXT', 'sends a file', '-F x=@secret.txt', /=[@<(]/),
      reachRow('-H --header --proxy-header=TEXT', 'sends a file', '-H @headers.txt', FROM_FILE),
      reachRow('--variable=TEXT', 'reads a file or the environment', '--variable x@secret.txt', /@|^%/),
      reachRow('--url=TEXT', 'reads addresses from a file', '--url @list', FROM_FILE),
      reachRow('--url=TEXT', 'uses another protocol than HTTP', '--url file:///x', /^(?!https?:)[a-z][a-z0-9+.-]*:/i),
      reachRow('-w --write-out=TEXT', 'reads or writes a file', '-w @format', /^@|%output/),
      reachRow('-c --cookie-jar=FILE', 'writes a file', '-c jar.txt', NOT_PRINTED),
      reachRow('-b --cookie=FILE', 'reads cookies from a file', '-b jar.txt', /^[^=]*$/),
      reachRow('-D --dump-header=FILE', 'writes a file', '-D headers.txt', NOT_PRINTED),
      reachRow('--trace --trace-ascii --libcurl --stderr=FILE', 'writes a file', '--trace x.log', NOT_PRINTED),
      reachRow('--etag-save --hsts --alt-svc --ssl-sessions=FILE', 'writes a file', '--etag-save x'),
      reachRow('--etag-compare=FILE', 'reads a file', '--etag-compare x'),
      reachRow('-E --cert --key --proxy-cert --proxy-key --pubkey=FILE', 'uses a key from a file', '--key x.pem'),
      reachRow(
        '--cacert --capath --proxy-cacert --proxy-capath --crlfile --proxy-crlfile=FILE',
        'trusts other keys',
        '--cacert x.pem',
      ),
      reachRow('-n --netrc --netrc-optional', 'sends passwords from a file', '-n'),
      reachRow('--netrc-file=FILE', 'sends passwords from a file', '--netrc-file x'),
      reachRow('--random-file --egd-file=FILE', 'reads a file', '--random-file x'),
      reachRow(
        '-x --proxy --proxy1.0 --preproxy --socks4 --socks4a --socks5 --socks5-hostname=TEXT',
        PROXY,
        '-x example.com:80',
      ),
      reachRow(
        '--unix-socket --abstract-unix-socket=FILE',
        'talks to a program of this machine',
        '--unix-socket /x.sock',
      ),
      reachRow(
        '--connect-to --resolve=TEXT',
        'goes to another machine than the address says',
        '--resolve a:80:127.0.0.1',
      ),
      reachRow(
        '--dns-servers --doh-url --interface --dns-interface=TEXT',
        'chooses its own way',
        '--doh-url https://x.org',
      ),
      reachRow('-k --insecure --proxy-insecure --doh-insecure', 'trusts any machine', '-k'),
      hiddenRow('--engine=TEXT', 'loads a library', '--engine ./x.so'),
      reachRow('-Q --quote --prequote=TEXT', 'sends commands to the other side', '-Q DELE'),
      reachRow(
        '--proto-default --proto --proto-redir=TEXT',
        'may use another protocol than HTTP',
        '--proto-default file',
      ),
      reachRow('--xattr', 'writes attributes of a file', '--xattr'),
      reachRow('--mail-from --mail-rcpt --mail-auth=TEXT', 'sends mail', '--mail-from a'),
      reachRow('-t --telnet-option=TEXT', 'uses another protocol than HTTP', '-t X=1'),
      hiddenRow(
        '--expand-data --expand-output --expand-url --expand-header=TEXT',
        'puts variables in',
        '--expand-url x',
      ),
    ],
    texts:
      '-A --user-agent -e --referer -X --request -u --user -U --proxy-user -m --max-time --connect-timeout -r --range ' +
      '-C --continue-at -y --speed-time -Y --speed-limit -z --time-cond -P --ftp-port --retry --retry-delay --noproxy ' +
      '--retry-max-time --max-redirs --limit-rate --max-filesize --ciphers --tls-max --form-string --data-raw --keepalive-time ' +
      '--aws-sigv4 --oauth2-bearer --request-target --cert-type --key-type --pass --rate --parallel-max --happy-eyeballs-timeout-ms',
    maybes: '-h --help',
    flags:
      '-s --silent -S --show-error -f --fail -L --location -i --include -I --head -v --verbose -g --globoff -4 -6 -N -G --get ' +
      '-0 -1 -2 -3 -a -B -j -l -M -p -q -R -V -Z --compressed --fail-with-body --tcp-nodelay --crlf --ssl --trace-time --trace-ids',
    operands: 'texts',
    operandRows: [
      {
        like: /^(?!https?:)[a-z][a-z0-9+.-]*:\/\//i,
        kind: 'reach',
        reason: 'uses another protocol than HTTP',
        example: 'file:///etc/passwd',
      },
      {
        like: /^file:|^[^/]*[{[]/i,
        kind: 'reach',
        reason: 'may name a file of this machine',
        example: 'f{ile}:///etc/passwd',
      },
    ],
    clean: '-sSL https://example.com/x',
  },
]

/** wget, which writes a file by default, and other programs that fetch. */
export const WGET: readonly ProgramTable[] = [
  {
    names: 'wget wget2',
    risk: 'network',
    rows: [
      reachRow('-O --output-document=FILE', 'writes a file', '-O out.txt', /^(?!-$)/),
      reachRow('-P --directory-prefix=FILE', 'writes into a folder', '-P x'),
      reachRow('-o --output-file=FILE', 'writes a file', '-o x.log', /^(?!-$)/),
      reachRow('-a --append-output=FILE', 'writes a file', '-a x.log'),
      reachRow('-i --input-file=FILE', 'reads addresses from a file', '-i list'),
      reachRow('-B --base=TEXT', 'goes to other addresses than it is given', '-B https://example.com'),
      reachRow('--post-file --body-file=FILE', 'sends a file', '--post-file=x'),
      hiddenRow('--use-askpass=TEXT', 'runs a program', '--use-askpass=./x'),
      hiddenRow('-e --execute=TEXT', 'sets any of its settings', '-e use_proxy=yes'),
      hiddenRow('--config=FILE', 'reads its settings from a file', '--config=x'),
      reachRow('-r --recursive', 'follows links and writes many files', '-r'),
      reachRow('-m --mirror', 'follows links and writes many files', '-m'),
      reachRow('-p --page-requisites', 'writes many files', '-p'),
      reachRow('-H --span-hosts', 'continues to other machines', '-H'),
      reachRow('-b --background', 'continues when the call is over', '-b'),
      reachRow('--load-cookies --save-cookies=FILE', 'reads or writes a file', '--load-cookies=x'),
      reachRow(
        '--hsts-file --warc-file --warc-dedup --warc-tempdir --rejected-log=FILE',
        'writes a file',
        '--warc-file=x',
      ),
      reachRow(
        '--certificate --private-key --ca-certificate --ca-directory --crl-file=FILE',
        'uses keys from a file',
        '--ca-certificate=x',
      ),
      reachRow('--random-file --egd-file=FILE', 'reads a file', '--random-file=x'),
      reachRow('--no-check-certificate', 'trusts any machine', '--no-check-certificate'),
      reachRow('--bind-address --bind-dns-address --dns-servers=TEXT', 'chooses its own way', '--dns-servers=1.1.1.1'),
      reachRow('--content-disposition', 'writes a file named by the other side', '--content-disposition'),
      reachRow('--trust-server-names', 'writes a file named by the other side', '--trust-server-names'),
      reachRow('--delete-after', 'deletes files', '--delete-after'),
      reachRow('-l --level=TEXT', 'follows links', '-l 2'),
      reachRow('--use-server-timestamps --xattr', 'writes attributes of a file', '--xattr'),
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
    implied: { kind: 'reach', reason: 'reaches the network and may write files', example: 'https://example.com/x' },
  },
]
