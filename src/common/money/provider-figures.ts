/**
 * What a provider itself said that a call cost: the names and values of its own fields or headers, as they came, such as
 * `{"usage.cost": 0.0012}`, `{"character-cost": "120"}` or `{"quota": 3}`. Only operators see them.
 */
export type ProviderFigures = Readonly<Record<string, number | string>>;
