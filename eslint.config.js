import js from '@eslint/js';
import jest from 'eslint-plugin-jest';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';
import { ownedEmitters } from './scripts/lint/owned-emitters.js';

const noFloats = [
  {
    selector: 'Literal[raw=/^[0-9]*\\.[0-9]+$/]',
    message: 'Money is integer micro-USD: no fractional literal here.',
  },
  { selector: "BinaryExpression[operator='/']", message: 'Money multiplies, it never divides.' },
  { selector: "MemberExpression[object.name='Math']", message: 'Money uses bigint, not Math.' },
  { selector: "CallExpression[callee.name='parseFloat']", message: 'Money uses bigint.' },
];
const ownHomes = [
  {
    selector: ':matches(TemplateElement[value.raw=/\\bctid\\b/], Literal[value=/\\bctid\\b/])',
    message: 'Name a row by its key: each part of a partitioned table has a row at the same ctid.',
  },
  { selector: 'PrivateIdentifier', message: 'Use the keyword private, as Nest does.' },
  {
    selector: "CallExpression[callee.object.name='URL'][callee.property.name='canParse']",
    message: 'It is wrong on Node 20: use common/parse-url.',
  },
  {
    selector: "MemberExpression[object.name='process'][property.name='env']",
    message: 'Read the environment in src/platform/config only.',
  },
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: 'Take the time from common/time/clock.',
  },
  {
    selector:
      "BinaryExpression[operator=/^[!=]==?$/]:not([right.type='Identifier'][right.name='undefined']) Identifier[name=/^(admin|metrics)Token$/]",
    message: 'Compare tokens in constant time, with BearerToken.',
  },
  {
    selector:
      ":not(VariableDeclaration[kind='await using'] > VariableDeclarator > AwaitExpression) > CallExpression[callee.object.property.name='calls'][callee.property.name='start']",
    message:
      'Write `await using paid = await this.calls.start(…)`: so the hold ends on every path.',
  },
];

export default tseslint.config(
  { ignores: ['dist', 'data', 'coverage', 'node_modules', '**/.tmp', '**/*.cjs', 'test/samples'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: { allowDefaultProject: ['*.js'] } },
    },
    rules: {
      '@typescript-eslint/no-extraneous-class': [
        'error',
        { allowWithDecorator: true, allowEmpty: true },
      ],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // Views are classes only so that Swagger can read them; plain objects fill them.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-misused-spread': 'off',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { ignoreRestSiblings: true, argsIgnorePattern: '^_' },
      ],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      'max-lines': ['error', { max: 250, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 50, skipBlankLines: true, skipComments: true }],
      'max-params': ['error', 6],
      complexity: ['error', 12],
      'no-console': 'error',
      'no-restricted-syntax': ['error', ...ownHomes],
    },
  },
  {
    files: [
      'src/billing/{accounts,ledger,audit}/**/*.ts',
      'src/catalog/**/*.ts',
      'src/common/money/**/*.ts',
    ],
    rules: { 'no-restricted-syntax': ['error', ...ownHomes, ...noFloats] },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['**/*spec.ts'],
    plugins: { shim: { rules: { 'owned-emitters': ownedEmitters } }, regexp },
    rules: {
      'shim/owned-emitters': 'error',
      // Callers choose the texts: a search that takes the square of their length stops everybody.
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
    },
  },
  {
    // The request outlives its form: the answer goes over the same connection.
    files: ['src/media/parsed-form.ts', 'src/media/text-form.ts'],
    rules: { 'shim/owned-emitters': ['error', { mayPipe: true }] },
  },
  { files: ['src/platform/config/**/*.ts'], rules: { 'no-restricted-syntax': 'off' } },
  { files: ['src/common/time/clock.ts'], rules: { 'no-restricted-syntax': 'off' } },
  {
    files: ['src/**/migrations/*.ts', 'src/catalog/models/*.ts'],
    rules: { 'max-lines': 'off', 'max-lines-per-function': 'off' },
  },
  {
    files: ['**/*spec.ts', 'test/**/*.ts'],
    plugins: { jest },
    rules: {
      'max-lines-per-function': 'off',
      'max-lines': ['error', { max: 250, skipBlankLines: true, skipComments: true }],
      'no-restricted-syntax': 'off',
      'jest/no-focused-tests': 'error',
      'jest/no-disabled-tests': 'error',
      'jest/no-identical-title': 'error',
      'jest/valid-title': ['error', { mustNotMatch: { it: '\\bshould\\b' } }],
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
  {
    // The page in the browser: it has no environment and no clock of the gateway, and its money is only shown.
    files: ['console/**/*.{ts,tsx}'],
    rules: {
      'no-restricted-syntax': 'off',
      // What a component shows is one expression.
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    },
  },
  {
    files: ['bench/**/*.ts'],
    rules: { 'no-console': 'off', 'no-restricted-syntax': 'off', 'max-lines-per-function': 'off' },
  },
  {
    files: ['**/*.js'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        globalThis: 'readonly',
      },
    },
    rules: { 'no-console': 'off', 'no-restricted-syntax': 'off' },
  },
  {
    // Programs of their own, as an integrator writes them.
    files: ['test/clients/**/*.js'],
    languageOptions: {
      globals: {
        Buffer: 'readonly',
        File: 'readonly',
        Response: 'readonly',
        fetch: 'readonly',
        setTimeout: 'readonly',
      },
    },
    rules: { 'max-lines-per-function': 'off' },
  },
);
