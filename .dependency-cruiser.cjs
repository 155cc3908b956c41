/** The direction of docs/adr/0001: main, cli, commands, boot → features → sealed → {tasks, usage, retention} → webhooks → {executions, admission} → {billing, leases, auth, media, catalog, providers} → {net, storage, database, config, ticker, observability} → common. */
const features = 'chat|images|videos|audio|dubbing|music|models|account|admin|sandbox-media';
const rule = (name, from, to, comment) => ({ name, severity: 'error', comment, from, to });
const floor = 'net|storage|database|config|ticker|observability';
/** Folders of `src/providers` that speak a wire protocol. */
const adapters = 'openai|elevenlabs|ttapi|openai-video';
const core = 'billing|leases|auth|media|catalog|providers';

module.exports = {
  forbidden: [
    rule('no-cycles', {}, { circular: true }, 'No import cycles.'),
    {
      ...rule('no-folder-loops', { path: '^src/' }, { circular: true, path: '^src/' }),
      scope: 'folder',
    },
    rule(
      'only-boot-imports-the-sandbox',
      { path: '^src/(?!boot/|sandbox/)' },
      { path: '^src/sandbox/' },
    ),
    rule(
      'sandbox-imports-common-only',
      { path: '^src/sandbox/' },
      { path: '^src/(?!common/|sandbox/)' },
    ),
    rule('src-imports-no-test', { path: '^src' }, { path: '^test' }),
    rule('common-is-the-floor', { path: '^src/common/' }, { path: '^src/(?!common/)' }),
    rule('floor-below-core', { path: `^src/(${floor})/` }, { path: `^src/(?!(${floor}|common)/)` }),
    rule(
      'core-below-executions',
      { path: `^src/(${core})/` },
      { path: `^src/(${features}|usage|retention|tasks|webhooks|executions|admission|boot)/` },
    ),
    rule(
      'admission-below-executions',
      { path: '^src/admission/' },
      { path: `^src/(${features}|usage|retention|tasks|webhooks|executions|boot)/` },
    ),
    rule(
      'executions-below-features',
      { path: '^src/billing/calls/' },
      { path: `^src/(${features}|usage|retention|tasks|webhooks|boot)/` },
      'executions and tasks stand beside each other on admission.',
    ),
    rule('tasks-beside-executions', { path: '^src/tasks/' }, { path: '^src/billing/calls/' }),
    rule(
      'webhooks-below-tasks',
      { path: '^src/webhooks/' },
      { path: `^src/(${features}|usage|retention|tasks|boot)/` },
    ),
    rule(
      'tasks-below-features',
      { path: '^src/tasks/' },
      { path: `^src/(${features}|usage|retention|boot)/` },
    ),
    rule(
      'sealed-below-features',
      { path: '^src/sealed/' },
      { path: `^src/(${features}|usage|retention|executions|admission|boot)/` },
    ),
    rule(
      'sealed-above-tasks',
      {
        path: `^src/(${core}|${floor}|common|tasks|webhooks|executions|admission|usage|retention)/`,
      },
      { path: '^src/sealed/' },
    ),
    rule(
      'usage-below-features',
      { path: '^src/billing/usage/' },
      { path: `^src/(${features}|tasks|webhooks|boot)/` },
    ),
    rule(
      'retention-drops-by-functions-of-the-database',
      { path: '^src/billing/retention/' },
      { path: '^src/(?!retention/|config/|database/|ticker/|common/)' },
    ),
    rule(
      'features-apart',
      { path: `^src/(${features})/` },
      { path: `^src/(${features})/`, pathNot: '^src/$1/' },
    ),
    rule(
      'adapters-only-from-providers',
      { path: '^src/(?!providers/)' },
      { path: `^src/providers/(${adapters})/` },
    ),
    rule(
      'adapters-apart',
      { path: `^src/providers/(${adapters})/` },
      {
        path: `^src/providers/(${adapters})/`,
        pathNot: '^src/providers/$1/',
      },
    ),
    rule(
      'ports-import-common-only',
      { path: '^src/providers/ports/' },
      { path: '^src/(?!common/|providers/ports/)' },
    ),
    rule(
      'entities-stay-home',
      { path: '^src/([^/]+)/' },
      { path: '\\.entity\\.ts$', pathNot: '^src/$1/' },
    ),
    rule(
      'billing-knows-money-only',
      { path: '^src/billing/' },
      { path: '^src/(catalog|auth|media|providers|tasks|executions|common/http)/' },
    ),
    rule(
      'axios-at-home',
      { path: '^src/', pathNot: '^src/(providers/http|net)/' },
      { path: 'node_modules/axios/' },
    ),
    rule(
      'backup-copies-data-only',
      { path: '^src/backup/' },
      { path: '^src/(?!backup/|billing/|leases/|config/|database/|ticker/|common/)' },
    ),
    rule(
      'only-commands-import-the-backup',
      { path: '^src/(?!commands/|cli\\.ts$|backup/)' },
      { path: '^src/backup/' },
    ),
    rule(
      'nobody-imports-the-entry-points',
      { path: '^src/', pathNot: '^src/(main|cli|app\\.module)\\.ts$|^src/(boot|commands)/' },
      { path: '^src/(main|cli|app\\.module)\\.ts$|^src/(boot|commands)/' },
    ),
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: 'spec\\.ts$' },
  },
};
