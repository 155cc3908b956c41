/** The direction of docs/adr/0001: main/app → features → tasks → webhooks → executions → {billing auth media catalog providers} → {net storage database config} → common. */
const features = 'chat|images|videos|audio|dubbing|music|admin|sandbox-media';
const rule = (name, from, to, comment) => ({ name, severity: 'error', comment, from, to });
const floor = 'net|storage|database|config';
const core = 'billing|auth|media|catalog|providers';

module.exports = {
  forbidden: [
    rule('no-cycles', {}, { circular: true }, 'No import cycles.'),
    rule('no-orphans-outside', { path: '^src' }, { path: '^test' }, 'Nothing in src imports test.'),
    rule('common-is-the-floor', { path: '^src/common/' }, { path: '^src/(?!common/)' }),
    rule(
      'floor-below-core',
      { path: `^src/(${floor})/` },
      { path: `^src/(?!(${floor}|common|observability)/)` },
    ),
    rule(
      'core-below-executions',
      { path: `^src/(${core})/` },
      { path: `^src/(${features}|tasks|webhooks|executions)/` },
    ),
    rule(
      'executions-below-tasks',
      { path: '^src/executions/' },
      { path: `^src/(${features}|tasks|webhooks)/` },
    ),
    rule('webhooks-below-tasks', { path: '^src/webhooks/' }, { path: `^src/(${features}|tasks)/` }),
    rule('tasks-below-features', { path: '^src/tasks/' }, { path: `^src/(${features})/` }),
    rule(
      'features-apart',
      { path: `^src/(${features})/` },
      { path: `^src/(${features})/`, pathNot: '^src/$1/' },
    ),
    rule(
      'adapters-only-from-providers',
      { path: '^src/(?!providers/)' },
      { path: '^src/providers/(openai|elevenlabs|ttapi|openai-video)/' },
    ),
    rule(
      'adapters-apart',
      { path: '^src/providers/(openai|elevenlabs|ttapi|openai-video)/' },
      {
        path: '^src/providers/(openai|elevenlabs|ttapi|openai-video)/',
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
      { path: '^src/(catalog|auth|media|providers|tasks|executions)/' },
    ),
    rule(
      'axios-at-home',
      { path: '^src/', pathNot: '^src/(providers/http|net)/' },
      { path: 'node_modules/axios/' },
    ),
    rule(
      'nobody-imports-main',
      { path: '^src/', pathNot: '^src/(main|cli|app\\.[a-z]+)\\.ts$' },
      { path: '^src/(main|cli|app\\.[a-z]+)\\.ts$' },
    ),
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.spec\\.ts$' },
  },
};
