import type {
  OverlayCall,
  OverlayConstant,
  OverlayFieldName,
  OverlayFieldValue,
  OverlayStep,
} from '../catalog/overlay-call.dto.js';
import type { JsonObject } from '../common/json-object.js';
import type { EndpointChange, StepChange } from '../providers/http/endpoint-change.js';

/** `upstream_calls` of the overlay file, as adapters take them. */
export function endpointChanges(calls: readonly OverlayCall[] = []): readonly EndpointChange[] {
  return calls.map((call) => ({
    name: call.call,
    like: call.like,
    path: call.path,
    fetchPath: call.fetch_path,
    names: namesOf(call.names),
    values: valuesOf(call.values),
    constants: constantsOf(call.constants),
    omits: call.omits,
    steps: call.steps?.map(stepOf),
    answerNames: namesOf(call.answer_names),
    needsTitle: call.needs_title,
    isLong: call.is_long,
  }));
}

function namesOf(names: readonly OverlayFieldName[] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.map(({ field, upstream_name: name }): [string, string] => [field, name]),
  );
}

function valuesOf(values: readonly OverlayFieldValue[] = []) {
  const byField: Record<string, Record<string, string>> = {};
  for (const { field, value, upstream_value: upstreamValue } of values) {
    byField[field] = { ...byField[field], [value]: upstreamValue };
  }
  return byField;
}

function constantsOf(constants: readonly OverlayConstant[] = []): JsonObject {
  return Object.fromEntries(constants.map(({ upstream_name: name, value }) => [name, value]));
}

function stepOf({ path, takes, only_with: onlyWith, constants, keeps }: OverlayStep): StepChange {
  return {
    path,
    takes,
    ...(onlyWith !== undefined && { onlyWith }),
    constants: constantsOf(constants),
    keeps,
  };
}
