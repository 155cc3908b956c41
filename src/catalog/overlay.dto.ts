import { UPSTREAM_PROTOCOLS, type UpstreamProtocol } from '../providers/ports/attempt.js';
import type { Operation } from '../providers/ports/provider-ports.js';
import {
  BUILT_IN_PROVIDERS,
  isShippedVendor,
  type Protocol,
  PROTOCOL_NAMES,
} from '../providers/providers.js';
import {
  Custom,
  Bool,
  ModelId,
  Nested,
  Enum,
  Pattern,
  Text,
  Int,
} from '../common/validation/fields.js';
import { Needs, RequiredIf, RequiredWhen } from '../common/validation/cross-field-rules.js';
import { isJsonObject } from '../common/json-object.js';
import { ROUTE_ORDERS, type RouteOrder } from './model-row.js';
import { OPERATION_NAMES } from './operations.js';
import { MAX_OUTPUT_TOKENS, OverlayLimits } from './overlay-limits.dto.js';
import { OverlayPrice } from './overlay-price.dto.js';
import { COST_FIGURES, type CostFigure } from './reported-cost.js';
import { OverlayTerms } from './overlay-terms.dto.js';
import { premadeVoice } from './voices.js';
import { parseUrl } from '../common/parse-url.js';

const MAX_NAME = 200;
const MAX_MODELS = 1_000;
const MAX_ROUTES = 8;
const MAX_ALIASES = 100;
/** Letters that cannot be taken for others: an alias is listed, logged and compared by people. */
const ALIAS = /^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/;
/** A voice as a provider writes it, in a path or a body. */
const VOICE = /^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/;
const ALIAS_SAYS = 'must be printable ASCII, at most 200 characters, with blanks only between them';
const optional = { optional: true } as const;

function isVoiceMap(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= MAX_ALIASES &&
    entries.every(
      ([alias, voice]) =>
        ALIAS.test(alias) &&
        premadeVoice(alias) === undefined &&
        typeof voice === 'string' &&
        premadeVoice(voice) !== undefined,
    )
  );
}

function isOwnVoices(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const names = Object.keys(value);
  const isDistinct = new Set(names.map((name) => name.toLowerCase())).size === names.length;
  const isNamed = names.every((name) => ALIAS.test(name));
  return (
    isDistinct &&
    isNamed &&
    names.length > 0 &&
    names.length <= MAX_ALIASES &&
    Object.values(value).every((voice) => typeof voice === 'string' && VOICE.test(voice))
  );
}

/** Paths are appended to it, so a query would end up before them. */
const isBaseUrl = (value: unknown): boolean =>
  typeof value === 'string' && /^https?:\/\/[^\s?#]+$/.test(value) && parseUrl(value) !== undefined;

/** A route of an overlay model. */
export class OverlayRoute {
  @Text({ max: MAX_NAME })
  provider!: string;

  @Text({ max: MAX_NAME })
  upstream_model!: string;

  @Int({ min: 1, max: 1_000, ...optional })
  weight?: number;

  @Enum(UPSTREAM_PROTOCOLS, optional)
  upstream_protocol?: UpstreamProtocol;

  /** What the provider takes, in the form of the model's price. */
  @Nested(() => OverlayPrice, optional)
  cost?: OverlayPrice;
}

/** A new model, or the fields of a built-in one that change. */
export class OverlayModel extends OverlayTerms {
  @ModelId()
  id!: string;

  @Enum(OPERATION_NAMES, optional)
  operation?: Operation;

  @Nested(() => OverlayRoute, { ...optional, list: { min: 0, max: MAX_ROUTES } })
  routes?: OverlayRoute[];

  @Nested(() => OverlayPrice, optional)
  price?: OverlayPrice;

  @Nested(() => OverlayLimits, optional)
  limits?: OverlayLimits;

  @Bool(optional)
  hidden_reasoning?: boolean;

  @Int({ min: 1, max: MAX_OUTPUT_TOKENS, ...optional })
  min_output_tokens?: number;

  @Custom(
    isOwnVoices,
    `must map 1 to ${MAX_ALIASES} different names in printable ASCII to voices of the provider`,
    { ...optional, api: { type: 'object', additionalProperties: { type: 'string' } } },
  )
  voices?: Record<string, string>;

  @Pattern(ALIAS, ALIAS_SAYS, { ...optional, list: { min: 0, max: MAX_ALIASES } })
  aliases?: string[];

  @Bool(optional)
  routable?: boolean;

  @Enum(ROUTE_ORDERS, optional)
  route_order?: RouteOrder;

  @Bool(optional)
  enabled?: boolean;
}

/** How the provider's own figure of the cost of its work is read. */
export class OverlayReportedCost {
  @Enum(COST_FIGURES)
  figure!: CostFigure;

  /** `usd`: the figure is in USD (ticks: in their part of it). `unit`: it counts units, which have a price per million. */
  @Enum(['usd', 'unit'])
  unit!: 'usd' | 'unit';

  @RequiredWhen('unit', 'unit')
  @Needs('unit', 'unit')
  @Int({ min: 1, max: Number.MAX_SAFE_INTEGER })
  micro_usd_per_million_units?: number;
}

/** What each key of a provider may be used for, by each `shim` that runs. */
export class OverlayKeyLimits {
  @Int({ min: 1, max: 1_000_000, ...optional })
  requests_per_minute?: number;

  /** Requests in flight. */
  @Int({ min: 1, max: 100_000, ...optional })
  concurrent?: number;
}

/** The entry says of a built-in provider, or of a shipped vendor, only how its figures are read or what its keys may be used for. */
export function isOfKnownProvider(entry: Readonly<Record<string, unknown>>): boolean {
  const { id, protocol, base_url: url, api_key_env: variable } = entry;
  const { reported_cost: cost, key_limits: limits } = entry;
  const isBuiltIn =
    BUILT_IN_PROVIDERS.some((provider) => provider.id === id) || isShippedVendor(id);
  const isAlone = [protocol, url, variable].every((value) => value === undefined);
  return isBuiltIn && isAlone && (cost !== undefined || limits !== undefined);
}

const RequiredOfOthers = () => RequiredIf((entry) => !isOfKnownProvider(entry));

/**
 * A provider that is not built in. Its key stays in the environment; with an empty `api_key_env` it takes no key. Of a built-in
 * provider and of a shipped vendor an entry may have `reported_cost` and `key_limits` alone.
 */
export class OverlayProvider {
  @Pattern(/^[a-z][a-z0-9-]{0,63}$/, 'must be lowercase letters, digits and hyphens')
  id!: string;

  @RequiredOfOthers()
  @Enum(PROTOCOL_NAMES)
  protocol!: Protocol;

  @RequiredOfOthers()
  @Custom(isBaseUrl, 'must be an http or https URL without a query', { api: { type: String } })
  base_url!: string;

  @RequiredOfOthers()
  @Pattern(
    /^([A-Z][A-Z0-9_]{0,99})?$/,
    'must be the name of an environment variable, or "" for a provider without a key',
  )
  api_key_env!: string;

  @Nested(() => OverlayReportedCost, optional)
  reported_cost?: OverlayReportedCost;

  @Nested(() => OverlayKeyLimits, optional)
  key_limits?: OverlayKeyLimits;
}

/** The file that `CATALOG_FILE` names. */
export class CatalogOverlay {
  @Nested(() => OverlayModel, { ...optional, list: { min: 0, max: MAX_MODELS } })
  models?: OverlayModel[];

  @Nested(() => OverlayProvider, { ...optional, list: { min: 0, max: 100 } })
  providers?: OverlayProvider[];

  @Custom(
    isVoiceMap,
    `must map at most ${MAX_ALIASES} names in printable ASCII that are no voices to voices`,
    {
      ...optional,
      api: { type: 'object', additionalProperties: { type: 'string' } },
    },
  )
  voice_aliases?: Record<string, string>;
}
