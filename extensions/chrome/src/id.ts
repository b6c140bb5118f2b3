// Who this extension is: the id follows from the key in `manifest.json`, and nodes check it.

/** The id of the extension, wherever it is loaded from. */
export const EXTENSION_ID = 'cklmooddchbbhngeidieamidaojpclfa'
