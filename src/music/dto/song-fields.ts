import { applyDecorators } from '@nestjs/common';
import { ValidateBy } from 'class-validator';
import { EXAMPLE_RECORDING, exampleMediaUrl } from '../../common/example-media.js';
import { Needs, RequiredWhen } from '../../common/validation/cross-field-rules.js';
import { Bool, Num, Enum, Text, Int } from '../../common/validation/fields.js';
import { codePointCount, isBlank } from '../../common/validation/text-rule.js';
import { MAX_URL_CHARACTERS } from '../../platform/http-client/public-url.js';

/** Longest lyrics, in code points. */
export const MAX_LYRICS = 5_000;
/** Longest description of a song, in code points. */
export const MAX_DESCRIPTION = 3_000;
const MAX_STYLE = 1_000;
/** Longest title or name, in code points. */
export const MAX_TITLE = 80;
/** Long enough for any of our ids. The task is looked up later. */
const MAX_TASK_ID = 100;
/** No track is longer than an hour. */
const MAX_SECONDS = 3_600;
/** The smallest length in seconds above zero. */
const ABOVE_ZERO = 0.01;

const optional = { optional: true } as const;

/** The field belongs to custom mode (API: Song modes; decision G-73). */
export function InCustomMode(): PropertyDecorator {
  return Needs('custom', true);
}

/** Id of a task whose result the operation uses. */
export function TaskId(description: string, options: { optional?: true } = {}): PropertyDecorator {
  return Text({ max: MAX_TASK_ID, description, example: EXAMPLE_TASK_ID, ...options });
}

/** The id in the examples. It has to be replaced by the id of a task that has succeeded. */
export const EXAMPLE_TASK_ID = 'task_0123456789abcdef0123456789abcdef';

/**
 * A public http or https URL of a recording. Only its length is checked here; the rest is checked when the task is
 * submitted.
 */
export function AudioUrl(description: string): PropertyDecorator {
  return Text({ max: MAX_URL_CHARACTERS, description, example: EXAMPLE_AUDIO_URL });
}

/** The recording in the examples. */
export const EXAMPLE_AUDIO_URL = exampleMediaUrl(EXAMPLE_RECORDING);

/** Several recordings, as {@link AudioUrl}. */
export function AudioUrls(min: number, max: number, description: string): PropertyDecorator {
  return Text({ max: MAX_URL_CHARACTERS, list: { min, max }, description });
}

/** A place in a track, in seconds with at most two decimals. */
export function Seconds(
  description: string,
  options: { from?: 'zero' | 'above-zero'; optional?: true } = {},
): PropertyDecorator {
  const { from = 'zero', ...rest } = options;
  const min = from === 'zero' ? 0 : ABOVE_ZERO;
  return Num({ min, max: MAX_SECONDS, decimals: 2, description, ...rest });
}

/** End of a range that begins at `start`. The range has at least `min` and at most `max` seconds. */
export function EndsAfter(
  start: string,
  { min = ABOVE_ZERO, max = MAX_SECONDS }: { min?: number; max?: number } = {},
): PropertyDecorator {
  const says = max === MAX_SECONDS ? `after ${start}` : `${min} to ${max} seconds after ${start}`;
  return ValidateBy(
    {
      name: `endsAfter_${start}`,
      validator: {
        validate: (end, args) => {
          const from = (args?.object as Readonly<Record<string, unknown>> | undefined)?.[start];
          if (typeof from !== 'number' || typeof end !== 'number') return true;
          const hundredths = Math.round((end - from) * 100);
          return hundredths >= min * 100 && hundredths <= max * 100;
        },
      },
    },
    { message: `$property must lie ${says}` },
  );
}

/** Words to sing. They may be blank only if the song is instrumental, and then they must be (decision G-73). */
export function Lyrics(options: { optional?: true } = {}): PropertyDecorator {
  return applyDecorators(
    Text({
      max: MAX_LYRICS,
      blank: 'allowed',
      description: 'Lyrics; none where the song is instrumental',
      example: '[Verse]\nThe rain is writing on the glass',
      ...options,
    }),
    Words(false, 'must not be blank'),
    Words(true, 'cannot be combined with instrumental'),
  );
}

/** The rule for the words of a song that nobody sings, or of all other songs. */
function Words(ofMute: boolean, says: string): PropertyDecorator {
  const holds = (words: unknown, body: object = {}) =>
    isMute(body) !== ofMute || isBlank(String(words)) === ofMute;
  return ValidateBy(
    { name: 'words', validator: { validate: (words, args) => holds(words, args?.object) } },
    { message: `$property ${says}` },
  );
}

function isMute(body: object): boolean {
  // Outside custom mode the words describe the song, and an instrumental song has a description too.
  const { instrumental, custom } = body as Readonly<Record<string, unknown>>;
  return instrumental === true && custom !== false;
}

/** `prompt` of a model with `custom`: lyrics, required in custom mode unless the song is instrumental. */
export function CustomLyrics(): PropertyDecorator {
  return applyDecorators(
    Lyrics(),
    InCustomMode(),
    RequiredWhen('custom', true),
    RequiredWhen('instrumental', false),
  );
}

/** The text has at most this length when `other` has the value. */
export function ShorterWhen(other: string, value: boolean, max: number): PropertyDecorator {
  return ValidateBy(
    {
      name: `shorterWhen_${other}`,
      validator: {
        validate: (text, args) =>
          (args?.object as Readonly<Record<string, unknown>> | undefined)?.[other] !== value ||
          typeof text !== 'string' ||
          codePointCount(text) <= max,
      },
    },
    { message: `$property must have at most ${max} characters with ${other} = ${value}` },
  );
}

/** Title of the tracks. */
export function Title(): PropertyDecorator {
  return Text({
    max: MAX_TITLE,
    ...optional,
    description: 'Title of the track',
    example: 'Rain on the glass',
  });
}

/** Words that describe a style. */
export function StyleText(description: string, options: { optional?: true } = optional) {
  return Text({ max: MAX_STYLE, description, example: 'dream pop, warm synths', ...options });
}

/** Style to avoid. */
export function NegativeTags(): PropertyDecorator {
  return Text({ max: MAX_STYLE, ...optional, description: 'Styles to avoid', example: 'metal' });
}

/** A weight from 0 to 1. */
export function Weight(description: string): PropertyDecorator {
  return Num({ min: 0, max: 1, ...optional, description });
}

/** Requested length. */
export function TargetDuration(): PropertyDecorator {
  return Int({ min: 10, max: 360, ...optional, description: 'Length to aim at, in seconds' });
}

/** How much the two tracks may differ. */
export function Variety(): PropertyDecorator {
  return Enum(['off', 'low', 'medium', 'high', 'max'], {
    ...optional,
    description: '`low` unless told otherwise. `max` neither is Max mode nor costs more',
  });
}

/** The singer. */
export function VocalGender(): PropertyDecorator {
  return Enum(['male', 'female'], { ...optional, description: 'Who sings' });
}

/** Whether lyrics are only an idea, from which the lyrics are written. */
export function AutoLyrics(): PropertyDecorator {
  return Bool({ ...optional, description: '`prompt` is an idea that is rewritten into lyrics' });
}

/** Whether there is no singing. */
export function Instrumental(): PropertyDecorator {
  return Bool({ default: false, description: 'Nobody sings' });
}

/** An instruction what to change. */
export function Instruction(): PropertyDecorator {
  return Text({
    max: MAX_DESCRIPTION,
    description: 'What is to be changed',
    example: 'Let the strings take over and slow down',
  });
}

/** The same seed gives the same result. */
export function Seed(): PropertyDecorator {
  return Int({
    min: 0,
    max: 4_294_967_295,
    ...optional,
    description: 'The same seed and request give a similar result',
  });
}
