# Turns the comments of a header into what Doxygen understands; lines stay where they are.
#
#     #pragma once                         /// \file
#     // The idea of the header.           /// The idea of the header.         what a header opens with
#     /// Removes. Errors: no memory.      /// Removes. <br><b>Errors:</b> no memory.
#
# Namespaces called detail become empty, and so do specialisations for what they hold.

# Outside of `code`.
function escaped(text,    parts, count, i, result) {
    count = split(text, parts, "`")
    for (i = 1; i <= count; ++i) {
        if (i % 2 == 1) gsub(/[\\<>@#&]/, "\\\\&", parts[i])
        result = result (i > 1 ? "`" : "") parts[i]
    }
    return result
}
function labelled(text) {
    gsub(/(Shape|Units|Requires|Errors|Lifetime|Thread|Cost|Source): /, "<br><b>&</b>", text)
    return text
}

FNR == 1 { opening = 1; inside_detail = 0 }
FNR == 1 && /^#pragma once/ { print "/// \\file"; next }
opening && /^\/\// {
    text = substr($0, 3)
    print "///" (text ~ /^     / ? text : labelled(escaped(text)))
    next
}
{ opening = 0 }
/^namespace detail \{/ { inside_detail = 1 }
inside_detail {
    if ($0 ~ /^\}  \/\/ namespace detail/) inside_detail = 0
    print ""
    next
}
match($0, /\/\/\/<? /) {
    end = RSTART + RLENGTH
    print substr($0, 1, end - 1) labelled(escaped(substr($0, end)))
    next
}
/^template <[^<]*>$/ { held = $0; next }
held != "" {
    print(/<detail::[^=]*> =/ ? "\n" : held "\n" $0)
    held = ""
    next
}
{ print }
