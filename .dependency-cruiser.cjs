/** The direction of docs/architecture/adr/0001: main, cli, commands, bootstrap → features → {text, sealed, billing/statements} → {tasks, billing/usage, billing/retention} → webhooks → {billing/calls, admission} → {books, auth, media, catalog, providers} → platform → common. */
const features =
  'chat|responses|messages|embeddings|images|videos|audio|dubbing|music|models|quotes|account|admin|console|sandbox-media';
const books = 'billing/(accounts|ledger|audit|recovery)';
const core = `${books}|auth|media|catalog|providers`;
/** Each other folder of providers is a wire protocol. */
const adapters = '(?!(?:http|ports|routing|text)/)[^/]+';
const rule = (name, from, to, comment) => ({ name, severity: 'error', comment, from, to });
const wing = (name, from, above) =>
  rule(name, { path: `^src/(${from})/` }, { path: `^src/(${above})/` });

module.exports = {
  forbidden: [
    rule('no-cycles', {}, { circular: true }, 'No import cycles.'),
    {
      // Admission asks the accounts, and the calls of billing ask admission: only the wing as a whole is a loop.
      ...rule(
        'no-folder-loops',
        { path: '^src/', pathNot: '^src/(admission|billing(/(accounts|ledger))?)$' },
        { circular: true, path: '^src/' },
      ),
    },
    {
      ...rule(
        'no-folder-loops-in-the-books',
        { path: '^src/billing/accounts$' },
        { path: '^src/billing/(?!accounts)' },
      ),
      scope: 'folder',
    },
    rule('src-imports-no-test', { path: '^src' }, { path: '^test' }),
    rule('common-is-the-floor', { path: '^src/common/' }, { path: '^src/(?!common/)' }),
    rule(
      'platform-knows-no-product',
      { path: '^src/platform/' },
      { path: '^src/(?!platform/|common/)' },
    ),
    rule(
      'servers-and-queues-stand-on-common',
      { path: '^src/platform/(http-server|fairness)/' },
      { path: '^src/(?!platform/(http-server|fairness)/|common/)' },
    ),
    wing(
      'core',
      core,
      `${features}|billing/(usage|statements|retention|calls)|tasks|webhooks|admission|bootstrap`,
    ),
    wing(
      'admission',
      'admission',
      `${features}|billing/(usage|statements|retention|calls)|tasks|webhooks|bootstrap`,
    ),
    wing(
      'calls',
      'billing/calls',
      `${features}|billing/(usage|statements|retention)|tasks|webhooks|bootstrap`,
    ),
    wing('text', 'text', `${features}|billing/(usage|statements|retention)|webhooks|bootstrap`),
    wing(
      'webhooks',
      'webhooks',
      `${features}|billing/(usage|statements|retention)|tasks|bootstrap`,
    ),
    wing(
      'tasks',
      'tasks|stored-responses',
      `${features}|billing/(usage|statements|retention|calls)|bootstrap`,
    ),
    wing('usage', 'billing/usage', `${features}|billing/statements|tasks|webhooks|bootstrap`),
    wing('statements', 'billing/statements', `${features}|tasks|webhooks|bootstrap`),
    wing(
      'sealed',
      'sealed',
      `${features}|billing/(usage|statements|retention|calls)|admission|bootstrap`,
    ),
    rule(
      'retention-drops-by-functions-of-the-database',
      { path: '^src/billing/retention/' },
      { path: '^src/(?!billing/retention/|platform/(config|database|scheduler)/|common/)' },
    ),
    rule(
      'sealed-above-tasks',
      { path: `^src/(${core}|platform|common|tasks|webhooks|admission|billing)/` },
      { path: '^src/sealed/' },
    ),
    rule(
      'features-apart',
      { path: `^src/(${features})/` },
      { path: `^src/(${features})/`, pathNot: '^src/$1/' },
    ),
    rule(
      'books-know-money-only',
      { path: `^src/${books}/` },
      { path: '^src/(catalog|auth|media|providers|tasks|billing/calls|platform/http-server)/' },
    ),
    rule(
      'adapters-only-from-providers',
      { path: '^src/(?!providers/)' },
      { path: `^src/providers/(${adapters})/` },
    ),
    rule(
      'adapters-apart',
      { path: `^src/providers/(${adapters})/` },
      { path: `^src/providers/(${adapters})/`, pathNot: '^src/providers/$1/' },
    ),
    rule(
      'ports-import-common-only',
      { path: '^src/providers/ports/' },
      { path: '^src/(?!common/|providers/ports/)' },
    ),
    rule('sandbox-stands-apart', { path: '^src/sandbox/' }, { path: '^src/(?!common/|sandbox/)' }),
    rule(
      'only-bootstrap-imports-the-sandbox',
      { path: '^src/(?!bootstrap/|sandbox/)' },
      { path: '^src/sandbox/' },
    ),
    rule(
      'entities-stay-home',
      { path: '^src/([^/]+)/' },
      { path: '\\.entity\\.ts$', pathNot: '^src/$1/' },
    ),
    rule(
      'the-caller-is-passed',
      { path: '^src/', pathNot: '^src/(platform/http-server/connections|bootstrap)/' },
      { path: '/connections/request-context\\.ts$' },
      'Whose request it is is passed as a value; the request context is for the log and for uncaught errors.',
    ),
    rule(
      'one-async-context',
      { path: '^src/', pathNot: '/connections/request-context\\.ts$' },
      { path: '^(node:)?async_hooks$' },
    ),
    rule(
      'axios-at-home',
      { path: '^src/', pathNot: '^src/(providers/http|platform/http-client)/' },
      { path: 'node_modules/axios/' },
    ),
    rule(
      'backup-copies-data-only',
      { path: '^src/backup/' },
      { path: '^src/(?!backup/|billing/|platform/|common/)' },
    ),
    rule(
      'a-move-knows-books-only',
      { path: '^src/account-moves/' },
      { path: '^src/(?!account-moves/|billing/|platform/|common/)' },
    ),
    rule(
      'only-commands-import-moves',
      { path: '^src/(?!commands/|account-moves/)' },
      { path: '^src/account-moves/' },
    ),
    rule(
      'only-commands-import-the-backup',
      { path: '^src/(?!commands/|cli\\.ts$|backup/)' },
      { path: '^src/backup/' },
    ),
    rule(
      'nobody-imports-the-entry-points',
      { path: '^src/', pathNot: '^src/(main|cli|app\\.module)\\.ts$|^src/(bootstrap|commands)/' },
      { path: '^src/(main|cli|app\\.module)\\.ts$|^src/(bootstrap|commands)/' },
    ),
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '[.-]spec\\.ts$' },
  },
};
