import {
  type CommandDeclaration,
  COMMON_OPTIONS,
  type OperandDeclaration,
  type OptionDeclaration,
} from './command-declaration.js';
import { COMMANDS, declarationOf } from './command-declarations.js';

const INDENT = '  ';
/** Lines of the help fit a terminal of this width. */
const WIDTH = 80;

/** All commands, a line each. `program` is how the reader starts the command line, such as `shim`. */
export function overviewText(program: string): string {
  const rows = Object.entries(COMMANDS).map(([name, { about }]) => [name, about] as const);
  return [
    `Usage: ${program} <command> [operands] [--options]`,
    '',
    ...pairs(rows),
    '',
    ...wrapped(
      `"${program} help COMMAND" or "COMMAND --help" says what a command takes. Answers are tables on a terminal, JSON elsewhere and with --json. Days are of UTC; --from and --to include theirs. Commands that move money say what they will do and ask; where nobody can be asked they do nothing without --yes.`,
      WIDTH,
    ),
    '',
    'Exit codes: 0 done; 1 failed, the reason is on standard error; 2 typed wrongly.',
  ].join('\n');
}

/** What the command takes, with an example. */
export function helpText(program: string, name: string): string {
  const declaration = declarationOf(name);
  if (declaration === undefined) return overviewText(program);
  const { about, operands = [], options = {}, notes = [], example } = declaration;
  const shown = Object.entries({ ...options, ...COMMON_OPTIONS }).filter(
    ([, { isFormer }]) => isFormer !== true,
  );
  return [
    ...wrapped(`${about}.`, WIDTH),
    '',
    usageLine(program, name),
    ...section(
      'Operands',
      operands.map((operand) => [operand.name, operand.about]),
    ),
    ...section(
      'Options',
      shown.map(([option, { value, about: says }]) => [typed(option, value), says]),
    ),
    ...notes.flatMap((note) => ['', ...wrapped(note, WIDTH)]),
    '',
    'Example:',
    `${INDENT}${program} ${example}`,
  ].join('\n');
}

/** `Usage: shim account ACCOUNT [--json]`. */
export function usageLine(program: string, name: string): string {
  const declaration = declarationOf(name);
  return `Usage: ${[program, name, declaration && takes(declaration)].filter(Boolean).join(' ')}`;
}

function takes({ operands = [], options = {} }: CommandDeclaration): string {
  return [
    ...operands.map(operandText),
    ...Object.entries(options)
      .filter(([, { isFormer }]) => isFormer !== true)
      .map(([name, { value }]) => `[${typed(name, value)}]`),
  ].join(' ');
}

const operandText = ({ name, isOptional, insteadOf }: OperandDeclaration): string =>
  isOptional === true || insteadOf !== undefined ? `[${name}]` : name;

const typed = (option: string, value: OptionDeclaration['value']): string =>
  value === undefined ? `--${option}` : `--${option} ${value}`;

function section(title: string, rows: readonly (readonly [string, string])[]): string[] {
  return rows.length === 0 ? [] : ['', `${title}:`, ...pairs(rows)];
}

/** Two columns; a left one that is long has a line of its own. */
function pairs(rows: readonly (readonly [string, string])[]): string[] {
  const longest = 28;
  const width = Math.min(longest, Math.max(...rows.map(([left]) => left.length)));
  const margin = INDENT + ' '.repeat(width + INDENT.length);
  return rows.flatMap(([left, right]) => {
    const [first = '', ...rest] = wrapped(right, WIDTH - margin.length);
    const below = rest.map((line) => margin + line);
    if (left.length > width) return [INDENT + left, margin + first, ...below];
    return [INDENT + left.padEnd(width) + INDENT + first, ...below];
  });
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
