import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../common/json-object.js';
import type { PriceChoice } from '../common/money/charge-basis.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import type { UpstreamTerms } from '../providers/ports/attempt.js';
import { hidesField } from './overlay-terms.js';
import { FRAME_LISTS, type Limits } from './model-limits.js';
import type { Factored } from './price-factor.js';

/**
 * A price per value of `seconds` (decision G-26), which are the lengths that are sold. A video whose resolution and sound
 * are in `perSecond` has the price there for each of its seconds.
 */
export interface PerVideo extends Factored {
  readonly unit: 'video';
  readonly microUsdBySeconds: Readonly<Record<string, MicroUsd>>;
  readonly perSecond?: readonly VideoPrice[];
}
/** The price of one second of video of this resolution, with or without sound. */
interface VideoPrice {
  readonly resolution: string;
  readonly sound: boolean;
  readonly microUsdPerSecond: MicroUsd;
}

/** What of a request chooses one of several prices of a video, beside its length. */
export type VideoChoice = Pick<PriceChoice, 'resolution' | 'sound'>;

/** The parts of a row that its choices depend on. */
interface VideoRow {
  readonly price: PerVideo;
  readonly terms?: UpstreamTerms | undefined;
  readonly limits: Partial<Pick<Limits, 'resolutions' | 'audio'>>;
}

/** The resolution and the sound that a provider gets: the constants of the row come before what the caller chose. */
export function choiceAtProvider(
  constants: JsonObject | undefined,
  { resolution, sound = false }: VideoChoice,
): { readonly resolution: unknown; readonly sound: unknown } {
  const { resolution: own = resolution, sound: ownSound, audio = ownSound } = constants ?? {};
  return { resolution: own, sound: audio ?? sound };
}

/**
 * The resolution and the sound of a request. Where the caller names none, the first resolution of the row holds, and
 * no sound: the provider's own default could be dearer. A row without the choice leaves it out.
 */
export function chosenOf(
  { resolutions, audio }: VideoRow['limits'],
  sent: { readonly resolution?: string | undefined; readonly audio?: boolean | undefined },
): VideoChoice {
  return {
    resolution: sent.resolution ?? resolutions?.[0],
    sound: sent.audio ?? (audio === true ? false : undefined),
  };
}

/** Everything that a caller of the model may choose, what holds without a choice first. */
export function videoChoicesOf({ resolutions, audio }: VideoRow['limits']): VideoChoice[] {
  const sounds = audio === true ? [false, true] : [undefined];
  const named: readonly (string | undefined)[] = resolutions ?? [undefined];
  return named.flatMap((resolution) => sounds.map((sound) => ({ resolution, sound })));
}

/** The price per second of a choice; undefined where the length alone has a price. */
export function secondPriceOf(
  price: PerVideo,
  constants: JsonObject | undefined,
  choice: VideoChoice,
): bigint | undefined {
  const { resolution, sound } = choiceAtProvider(constants, choice);
  const known = price.perSecond?.find(
    (each) => each.resolution === resolution && each.sound === sound,
  );
  return known?.microUsdPerSecond;
}

/**
 * What is wrong with the choices of a row, each as a sentence that names the field: a resolution or a sound that the
 * caller may choose and that has no price per second, or that a constant replaces.
 */
export function faultsOfVideoChoices(row: VideoRow): string[] {
  const { limits, price } = row;
  const replaced = replacedChoices(row);
  if (replaced.length > 0) return replaced;
  const choosesSound = limits.audio === true && price.perSecond !== undefined;
  return limits.resolutions !== undefined || choosesSound ? unpricedChoices(row) : [];
}

function replacedChoices({ limits, terms }: VideoRow): string[] {
  const says = (name: string) =>
    `limits.${name} must not stand beside a constant of that name, or where the field is dropped`;
  const hidesSound = hidesField(terms, 'audio') || hidesField(terms, 'sound');
  return [
    ...(limits.resolutions && hidesField(terms, 'resolution') ? [says('resolutions')] : []),
    ...(limits.audio === true && hidesSound ? [says('audio')] : []),
  ];
}

function unpricedChoices({ limits, terms, price }: VideoRow): string[] {
  return videoChoicesOf(limits)
    .filter((choice) => secondPriceOf(price, terms?.constants, choice) === undefined)
    .map((choice) => {
      const { resolution, sound } = choiceAtProvider(terms?.constants, choice);
      return `price.per_second has no price for resolution ${String(resolution)}, sound ${String(sound)}, which limits let callers choose`;
    });
}

/** Whether the value is a list of frames that a row may have. */
export function isFrameList(value: unknown): boolean {
  return FRAME_LISTS.some((frames) => isDeepStrictEqual(value, frames));
}
