/** What all tests share. */
const shared = {
  rootDir: import.meta.dirname,
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testEnvironment: 'node',
  // The worker goes on with what a file had; projects that differ make Jest warn.
  testEnvironmentOptions: { globalsCleanup: 'off' },
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: {
            legacyDecorator: true,
            decoratorMetadata: true,
            useDefineForClassFields: false,
          },
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
};

const SRC = `^${import.meta.dirname.replaceAll(/[^\w/]/g, '\\$&')}/src`;
const PACKAGES = '/node_modules/(axios/index\\.js|typeorm/index\\.mjs|@nestjs/[^/]+/.*\\.js)$';
const BUILT = '<rootDir>/test/support/built/transform.js';

/** The sources are taken from the build, and so are the packages by whose classes a gateway finds its parts. */
const withBuild = {
  ...shared,
  testEnvironment: '<rootDir>/test/support/built/environment.js',
  transform: { [`${SRC}/.*(?<!spec)\\.ts$`]: BUILT, [PACKAGES]: BUILT, ...shared.transform },
  transformIgnorePatterns: ['/node_modules/(?!(axios|typeorm|@nestjs)/)'],
  globalSetup: '<rootDir>/test/support/built/global-setup.js',
  globalTeardown: '<rootDir>/test/support/built/global-teardown.js',
};

/** With the PostgreSQL of the run and a template of a migrated database; see test/support/test-database.ts. */
const withDatabase = {
  ...withBuild,
  globalSetup: '<rootDir>/test/support/global-setup.js',
  globalTeardown: '<rootDir>/test/support/global-teardown.js',
};

/** The end of a file's name tells its size, and with it its project; CONTRIBUTING.md says which is which. */
const project = (displayName, ending, settings) => ({
  ...settings,
  displayName,
  testMatch: [`**/*.${ending}.ts`],
});

/** @type {import('jest').Config} */
export default {
  projects: [
    project('unit', 'spec', shared),
    project('integration', 'integration-spec', withBuild),
    project('db', 'db-spec', withDatabase),
    project('e2e', 'e2e-spec', withDatabase),
    project('process', 'process-spec', withDatabase),
  ],
  // One line for each vendor and each fault, where those are asked for.
  ...(process.argv.some((word) => word.startsWith('test/contract/vendors')) && { verbose: true }),
  maxWorkers: 2,
  // Modules of finished test files stay in memory (a known leak of ES modules under Jest): beyond this a worker is replaced.
  workerIdleMemoryLimit: '1500MB',
  testTimeout: 90_000,
  forceExit: false,
};
