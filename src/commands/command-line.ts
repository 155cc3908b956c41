import { randomUUID } from 'node:crypto';
import { parseArgs, type ParseArgsConfig } from 'node:util';
import {
  COMMON_OPTIONS,
  type CommandDeclaration,
  type OptionDeclaration,
} from './command-declaration.js';
import { COMMANDS, declarationOf, optionsOf } from './command-declarations.js';
import { misuseOf } from './command-misuse.js';
import { helpText, overviewText, usageLine } from './help.js';
import { didYouMean } from '../common/nearest-name.js';
import { takesKey, type OperatorRequest } from './operator-request.js';

/** What was typed: a command to run, a text that was asked for, or what is wrong and how it is right. */
export type CommandLine =
  | { readonly request: OperatorRequest; readonly asJson: boolean }
  | { readonly help: string }
  | { readonly misuse: string };

type TypedOptions = Record<string, string | boolean | undefined>;
/** An option as it was typed. */
interface TypedOption {
  readonly name: string;
  /** With its hyphens. */
  readonly rawName: string;
  readonly value: string | undefined;
  /** Whether the value stood behind `=`. */
  readonly inlineValue: boolean | undefined;
}

const BOOLEAN = 'true|false';
const HELP = 'help';
const NEGATIVE_NUMBER = /^-\d+(\.\d+)?$/;
/** Stands before a negative number that is an operand, which parseArgs would take for an option. No argument has a zero byte. */
const OPERAND_MARK = '\0';

/** Every option of every command. An option of one name is of one kind in all of them. */
const DECLARED: Readonly<Record<string, OptionDeclaration>> = Object.fromEntries(
  [COMMON_OPTIONS, ...Object.values(COMMANDS).map(({ options = {} }) => options)].flatMap(
    (options) => Object.entries(options),
  ),
);
const PARSED: NonNullable<ParseArgsConfig['options']> = Object.fromEntries(
  Object.entries(DECLARED).map(([name, { value }]) => [
    name,
    { type: value === undefined ? 'boolean' : 'string', ...(name === HELP && { short: 'h' }) },
  ]),
);

/** Reads the words behind the name of the program. `actor` is who typed them, `program` how the program was started. */
export function readCommandLine(
  typed: readonly string[],
  { program, actor }: { readonly program: string; readonly actor: string },
): CommandLine {
  const { positionals, options, typedOptions } = parse(typed);
  const { json, help, ...others } = options;
  const [first = '', ...rest] = positionals;
  const asksForHelp = first === HELP || help === true;
  const [name = '', ...words] = first === HELP ? rest : [first, ...rest];
  if (name === '') {
    return asksForHelp ? { help: overviewText(program) } : { misuse: overviewText(program) };
  }
  const declaration = declarationOf(name);
  if (declaration === undefined) return { misuse: unknownText(program, name) };
  if (asksForHelp) return { help: helpText(program, name) };
  const wrong = valueFaultOf(declaration, typedOptions) ?? misuseOf(declaration, words, others);
  if (wrong !== undefined) {
    const more = `"${program} help ${name}" says what each of them means.`;
    return { misuse: `${name} ${wrong}\n${usageLine(program, name)}\n${more}` };
  }
  // Without a key of the user every run is a new request, so running it twice credits twice.
  const key = takesKey(name) ? { 'idempotency-key': randomUUID() } : {};
  const request = { name, words, options: { ...key, ...others }, actor };
  return { request, asJson: json === true };
}

function unknownText(program: string, name: string): string {
  const nearest = didYouMean(name, Object.keys(COMMANDS));
  const list = nearest === '' ? overviewText(program) : `"${program} help" lists all commands.`;
  return `There is no command ${JSON.stringify(name)}.${nearest}\n${list}`;
}

function parse(typed: readonly string[]) {
  const { tokens } = parseArgs({
    args: prepared(typed),
    options: PARSED,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const options: TypedOptions = {};
  const positionals: string[] = [];
  const typedOptions: TypedOption[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') {
      positionals.push(token.value.replace(OPERAND_MARK, ''));
    } else if (token.kind === 'option') {
      typedOptions.push(token);
      options[token.name] = token.value ?? true;
    }
  }
  return { positionals, options, typedOptions };
}

/** What parseArgs cannot know: `--disabled` alone means true, and `-500` is an amount. */
function prepared(typed: readonly string[]): string[] {
  const end = typed.indexOf('--');
  const words = end < 0 ? typed : typed.slice(0, end);
  const read = words.map((word, index) => {
    const valueOf = (option = '') =>
      option.startsWith('--') ? DECLARED[option.slice(2)]?.value : undefined;
    const isAlone = !BOOLEAN.split('|').includes(words[index + 1] ?? '');
    if (valueOf(word) === BOOLEAN && isAlone) return `${word}=true`;
    const isOperand = valueOf(words[index - 1]) === undefined;
    return isOperand && NEGATIVE_NUMBER.test(word) ? OPERAND_MARK + word : word;
  });
  return end < 0 ? read : [...read, ...typed.slice(end)];
}

/**
 * The first option that lacks its value, has one that it does not take, or is there twice: of two amounts none is surely meant.
 * Whether the command takes the option is asked later.
 */
function valueFaultOf(
  declaration: CommandDeclaration,
  typed: readonly TypedOption[],
): string | undefined {
  const options = optionsOf(declaration);
  for (const option of typed) {
    const { name, rawName, value, inlineValue } = option;
    const declared = Object.hasOwn(options, name) ? options[name] : undefined;
    if (declared === undefined) continue;
    if (declared.value === undefined && value !== undefined) {
      return `takes no value behind ${rawName}.`;
    }
    const isMissing = value === undefined || (inlineValue !== true && value.startsWith('--'));
    if (declared.value !== undefined && isMissing) {
      return `needs a value behind ${rawName}: ${rawName} ${declared.value}.`;
    }
    if (typed.some((other) => other !== option && other.name === name)) {
      return `takes ${rawName} once.`;
    }
  }
  return undefined;
}
