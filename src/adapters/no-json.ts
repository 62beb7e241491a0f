/** Stands for arguments that are no JSON: a hub takes only plain data, so the call fails on record, whatever the tool accepts. */
export const NO_JSON: object = new (class ArgumentsThatAreNoJson {})()
