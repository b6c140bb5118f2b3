//! Elements and attributes of pages and XML, by what they say of the values in them.

/// Attributes whose value is the name of what stands beside it.
pub(crate) const NAMING: [&str; 14] = [
    "name",
    "id",
    "property",
    "itemprop",
    "http-equiv",
    "autocomplete",
    "key",
    "field",
    "param",
    "var",
    "data-name",
    "data-key",
    "parameter",
    "variable",
];
/// Attributes that hold what stands beside a name.
pub(crate) const VALUES: [&str; 12] = [
    "value",
    "content",
    "data-value",
    "data-content",
    "default",
    "v",
    "val",
    "default-value",
    "data-clipboard-text",
    "data-copy",
    "data-clipboard",
    "data-text",
];
/// Attributes whose names weigh, and whose values are no secrets, or have rules of their own.
pub(crate) const HARMLESS: [&str; 30] = [
    "type",
    "for",
    "class",
    "aria-label",
    "placeholder",
    "title",
    "href",
    "src",
    "accesskey",
    "alt",
    "style",
    "rel",
    "role",
    "lang",
    "integrity",
    "pattern",
    "action",
    "method",
    "label",
    "ref",
    "passwordrules",
    "passwordcharacter",
    "datatype",
    "valuetype",
    "encodingtype",
    "xmlns",
    "slot",
    "keytype",
    "mechanism",
    "algorithm",
];
/// Elements of HTML that people read; their names say nothing of what is in them.
pub(crate) const READ: [&str; 40] = [
    "label", "button", "a", "div", "section", "form", "fieldset", "select", "option", "h1", "h2",
    "h3", "h4", "h5", "h6", "p", "li", "ul", "ol", "span", "legend", "summary", "title", "b",
    "strong", "i", "em", "small", "article", "main", "header", "footer", "nav", "body", "html",
    "head", "table", "tr", "th", "dt",
];
/// Those of HTML that show values.
pub(crate) const SHOWN: [&str; 20] = [
    "textarea", "output", "code", "pre", "samp", "kbd", "td", "dd", "input", "meta", "data",
    "param", "link", "img", "script", "style", "time", "mark", "dl", "noscript",
];
/// Elements without text, if they have attributes: XML has some of the same names.
pub(crate) const VOID: [&str; 9] =
    ["input", "meta", "img", "link", "param", "area", "base", "col", "embed"];
/// Elements whose text is the name of what comes next: in data any value of a secret's name is one.
pub(crate) const NAMES: [&str; 7] =
    ["key", "name", "n", "field", "attribute", "property", "parameter"];
/// The same in pages.
pub(crate) const HEADINGS: [&str; 18] = [
    "th", "dt", "td", "label", "span", "p", "b", "strong", "div", "legend", "summary", "data",
    "h1", "h2", "h3", "h4", "h5", "h6",
];
/// Elements that are the value of the one around them.
pub(crate) const INNER: [&str; 20] = [
    "value",
    "string",
    "data",
    "text",
    "href",
    "attributevalue",
    "item",
    "content",
    "v",
    "val",
    "defaultvalue",
    "str",
    "pre",
    "code",
    "span",
    "b",
    "strong",
    "em",
    "option",
    "tt",
];
/// Elements with translations of what people read.
pub(crate) const TRANSLATED: [&str; 9] =
    ["string", "message", "source", "target", "trans-unit", "data", "value", "text", "translation"];
/// Private numbers of an RSA key (XML Signature's `RSAKeyValue`).
pub(crate) const RSA: [&str; 6] = ["d", "p", "q", "dp", "dq", "inverseq"];
