import { describe, expect, it } from '@jest/globals';
import { COMMANDS } from './command-declarations.js';
import { readCommandLine } from './command-line.js';

const read = (...words: string[]) => readCommandLine(words, { program: 'shim', actor: 'cli:me' });
const LINE = 80;

function requestOf(...words: string[]) {
  const typed = read(...words);
  if ('request' in typed) return typed;
  throw new Error(JSON.stringify(typed));
}

function misuseOf(...words: string[]): string {
  const typed = read(...words);
  return 'misuse' in typed ? typed.misuse : '';
}

describe('help', () => {
  it.each([[['help']], [['--help']], [['-h']]])('%j lists every command', (words) => {
    const typed = read(...words);
    for (const name of Object.keys(COMMANDS)) {
      expect(typed).toEqual({ help: expect.stringContaining(`\n  ${name} `) });
    }
  });

  it.each(Object.keys(COMMANDS))('of %s names its operands, options and an example', (name) => {
    const { operands = [], options = {}, example } = COMMANDS[name] ?? { example: '' };
    const asked = [read('help', name), read(name, '--help'), read('-h', name), read(name, '-h')];
    const [first] = asked;
    for (const typed of asked) expect(typed).toEqual(first);
    const help = first !== undefined && 'help' in first ? first.help : '';
    const shown = Object.entries(options).filter(([, { isFormer }]) => isFormer !== true);
    for (const [option, { about }] of shown) {
      expect(help).toContain(`  --${option}`);
      expect(help).toContain(about.split(' ')[0]);
    }
    for (const operand of operands) expect(help).toContain(`\n  ${operand.name}`);
    expect(help).toContain(`Example:\n  shim ${example}`);
    expect(example.startsWith(name)).toBe(true);
    const lines = help.split('\n').filter((line) => !line.startsWith('Usage: '));
    expect(lines.filter((line) => line.length > LINE && !line.includes(example))).toEqual([]);
  });

  it.each(Object.keys(COMMANDS))('of %s shows an example that is right', (name) => {
    const words = (COMMANDS[name]?.example ?? '').replace(/ > .*/, '').split(' ');
    expect(requestOf(...words).request.name).toBe(name);
  });

  it('says that there is no such command, and names the nearest', () => {
    expect(misuseOf('acounts')).toMatch(/^There is no command "acounts"\. Did you mean accounts\?/);
    expect(misuseOf('create:account', 'a')).toContain('Did you mean account:create?');
    expect(misuseOf('help', 'key:revok')).toContain('Did you mean key:revoke?');
    expect(misuseOf('zzz')).toMatch(/^There is no command "zzz"\.\nUsage: shim <command>/);
  });
});

describe('a command line', () => {
  it('takes negative amounts as operands and as values', () => {
    expect(requestOf('account:credit', 'A', '-500').request.words).toEqual(['A', '-500']);
    expect(requestOf('account:credit', 'A', '--yes', '-500').request).toMatchObject({
      words: ['A', '-500'],
      options: { yes: true },
    });
    expect(requestOf('account:credit', 'A', '--yes', '--', '-500').request.words).toEqual([
      'A',
      '-500',
    ]);
    expect(requestOf('account:credit', 'A', '--usd', '-0.5').request.options.usd).toBe('-0.5');
    expect(requestOf('account:credit', 'A', '--note', '-1', '5').request).toMatchObject({
      words: ['A', '5'],
      options: { note: '-1' },
    });
  });

  it('refuses an option that is there twice, so that no amount is left out of account', () => {
    expect(misuseOf('account:credit', 'A', '--usd', '5', '--usd=50')).toMatch(
      /^account:credit takes --usd once\.\n/,
    );
    expect(misuseOf('execution:refund', 'E', '--note', 'a', '--note', 'a')).toContain(
      'takes --note once.',
    );
  });

  it.each([
    [['account:create', 'A', '--play-money'], 'true'],
    [['account:create', '--play-money', 'false', 'A'], 'false'],
    [['account:create', '--play-money', 'A'], 'true'],
    [['account:create', 'A', '--play-money=false'], 'false'],
  ])('%j: an option alone means true', (words, value) => {
    const { request } = requestOf(...words);
    expect([request.words, request.options['play-money']]).toEqual([['A'], value]);
  });

  it('has --json on every command, before or behind its name', () => {
    for (const words of [
      ['--json', 'audit'],
      ['audit', '--json'],
    ]) {
      expect(requestOf(...words)).toMatchObject({
        asJson: true,
        request: { name: 'audit', words: [], options: {}, actor: 'cli:me' },
      });
    }
    expect(requestOf('audit')).toMatchObject({ asJson: false });
  });

  it('gives each command that moves money a key of its own, unless it has one', () => {
    const keyOf = (...words: string[]) => requestOf(...words).request.options['idempotency-key'];
    const [one, other] = [keyOf('account:credit', 'A', '5'), keyOf('account:credit', 'A', '5')];
    expect([typeof one, one === other]).toEqual(['string', false]);
    expect(keyOf('task:refund', 'T', '--idempotency-key', 'k')).toBe('k');
    expect(keyOf('audit')).toBeUndefined();
  });

  it.each([
    [['account'], 'account needs ACCOUNT.'],
    [['account:credit', 'A'], 'account:credit needs AMOUNT_MICROUSD.'],
    [['task:resolve', 'T'], 'task:resolve needs succeeded|failed|collect.'],
    [['backup'], 'backup needs FILE.'],
    [['account', 'A', 'B'], 'account does not take "B".'],
    [['usage', '--form', '2026-01-01'], 'usage does not take --form. Did you mean --from?'],
    [['audit', '--full=yes'], 'audit takes no value behind --full.'],
    [['accounts', '--limit'], 'accounts needs a value behind --limit: --limit N.'],
    [['accounts', '--name', '--json'], 'accounts needs a value behind --name: --name PREFIX.'],
    [['account', 'A', '-x'], 'account does not take -x.'],
  ])('%j is refused: %s', (words, fault) => {
    const [first, usage] = misuseOf(...words).split('\n');
    expect(first).toBe(fault);
    expect(usage).toMatch(new RegExp(`^Usage: shim ${words[0]}`));
  });

  it('needs no amount beside --usd, and no task beside --all', () => {
    expect(requestOf('account:credit', 'A', '--usd', '5.00').request.words).toEqual(['A']);
    const all = ['task:resolve', '--all', '--evidence', 'succeeded', '--outcome', 'collect'];
    expect(requestOf(...all).request.words).toEqual([]);
  });
});
